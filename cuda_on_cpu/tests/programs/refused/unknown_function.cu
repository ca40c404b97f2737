int main() {
  void* p = nullptr;
  return cudaMallocOnTheMoon(&p, 100);
}

int add_vectors(bool beyond);

int main(int argc, char** /*argv*/) {
  return add_vectors(argc > 1);
}

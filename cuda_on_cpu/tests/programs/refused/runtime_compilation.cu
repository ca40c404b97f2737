#include <nvrtc.h>

int main() {}

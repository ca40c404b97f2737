#include <stdio.h>
#include <conio.h>

int main(void) {
  printf("Press a key\n");
  _getch();
  return 0;
}

// expect: In 5_beyond_the_end.cpp:10, for 5 rows, 4 inputs and 3 outputs, the program writes
#include <vector>

using Vector = std::vector<double>;

void layer_backward(int rows, int inputs, int outputs, const Vector& x, const Vector& w,
                    const Vector& y, const Vector& dy, Vector& dw, Vector& db, Vector& dx) {
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < outputs; ++j) {
      db[i * outputs + j] = dy[i * outputs + j];
    }
  }
}

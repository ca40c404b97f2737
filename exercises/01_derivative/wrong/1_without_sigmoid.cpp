// expect: dw.*the factor y \(1 - y\)
#include <algorithm>
#include <vector>

/// Gradients of the loss with respect to the weights, biases and inputs of a layer, from dy, that
/// with respect to its output y = sigmoid(x w + b).
void layer_backward(int rows, int inputs, int outputs, const std::vector<double>& x,
                    const std::vector<double>& w, const std::vector<double>& y,
                    const std::vector<double>& dy, std::vector<double>& dw, std::vector<double>& db,
                    std::vector<double>& dx) {
  std::fill(dw.begin(), dw.end(), 0);
  std::fill(db.begin(), db.end(), 0);
  std::fill(dx.begin(), dx.end(), 0);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < outputs; ++j) {
      const double dz = dy[i * outputs + j];
      db[j] += dz;
      for (int k = 0; k < inputs; ++k) {
        dw[k * outputs + j] += x[i * inputs + k] * dz;
        dx[i * inputs + k] += w[k * outputs + j] * dz;
      }
    }
  }
}

#include "01_serial/serial_executor.hpp"

#include <algorithm>

namespace stagewise {

template <typename T>
void SerialExecutor<T>::run(const Gather& op) {
  this->dataset()->gather(this->samples(op.batch), this->at(op.batch));
  this->dataset()->gather_labels(this->samples(op.batch), this->at(op.batch_labels));
}

template <typename T>
void SerialExecutor<T>::run(const Sum& op) {
  T* const sum = this->at(op.sum);
  const Index n = this->elements(op.sum);
  std::copy_n(this->at(op.terms.front()), n, sum);
  for (std::size_t i = 1; i < op.terms.size(); ++i) serial::add(n, sum, this->at(op.terms[i]), sum);
}

template <typename T>
void SerialExecutor<T>::run(const Mean& op) {
  T* const mean = this->at(op.mean);
  for (Index i = 0; i < this->elements(op.mean); ++i) {
    double sum = 0;
    for (const Reads<Real>& term : op.terms) sum += static_cast<double>(this->at(term)[i]);
    mean[i] = static_cast<T>(sum / static_cast<double>(op.terms.size()));
  }
}

template <typename T>
void SerialExecutor<T>::run(const Copy& op) {
  std::copy_n(this->at(op.x), this->elements(op.x), this->at(op.y));
}

template class SerialExecutor<float>;
template class SerialExecutor<double>;

}  // namespace stagewise

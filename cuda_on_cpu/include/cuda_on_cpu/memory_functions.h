/// @file
/// Loads and stores past a cache: here there is only one way to memory.
#pragma once

template <class T>
T __ldg(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcg(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldca(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcs(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldlu(const T* pointer) {
  return *pointer;
}
template <class T>
T __ldcv(const T* pointer) {
  return *pointer;
}
template <class T>
void __stwb(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stcg(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stcs(T* pointer, T value) {
  *pointer = value;
}
template <class T>
void __stwt(T* pointer, T value) {
  *pointer = value;
}

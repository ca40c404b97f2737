#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "passes.hpp"
#include "scanner.hpp"
#include "translate.hpp"

namespace cuda_on_cpu {
namespace {

/// The translation without its first line. L(K, C) stands for the launch of K under {C}, without
/// arguments' parentheses, S for shared memory and D for dynamic shared memory, so that the tables
/// can be read.
std::string shortened(std::string text) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  replace("::cuda_on_cpu::Launch", "Launch");
  replace("::cuda_on_cpu::shared", "shared");
  replace("::cuda_on_cpu::dynamic_shared", "dynamic_shared");
  replace("::cuda_on_cpu::store_in_lockstep", "store_in_lockstep");
  replace("::cuda_on_cpu::by_reference", "by_reference");
  replace("::cuda_on_cpu::passed(cuda_on_cpu_arguments)", "passed(a)");
  replace("(auto... cuda_on_cpu_arguments)", "(auto... a)");
  replace("(cuda_on_cpu_arguments...)", "(a...)");
  return text;
}

std::string body(const std::string& text) {
  const std::string translated = translate(text, "/f.cu");
  const std::string head = "#line 1 \"/f.cu\"\n";
  EXPECT_EQ(translated.substr(0, head.size()), head);
  return shortened(translated.substr(head.size()));
}

std::string complaint(const std::string& text) {
  try {
    return "translated to " + translate(text, "/f.cu");
  } catch (const TranslationError& error) {
    return error.what();
  }
}

/// What is to become of a text.
struct Case {
  std::string name;
  std::string text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Case& tried) {
  return out << tried.text;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

std::string launch(const std::string& kernel, const std::string& configuration,
                   const std::string& arguments) {
  return "Launch(\"" + kernel + "\", {" + configuration + "})([=](auto... a) { " + kernel +
         "(a...); }" + (arguments.empty() ? "" : ", " + arguments) + ")";
}

// ------------------------------------------------------------------------------- left as they are

class LeavesAlone : public testing::TestWithParam<Case> {};

TEST_P(LeavesAlone, EveryCharacter) {
  EXPECT_EQ(body(GetParam().text), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Translate, LeavesAlone,
    testing::Values(
        Case{"Nothing", "", ""}, Case{"NoLastLineBreak", "int x;", ""},
        Case{"LineComment", "// kernel<<<1, 1>>>(x); __shared__ int y = 1;\n", ""},
        Case{"JoinedLineComment", "// kernel \\\n <<<1, 1>>>(x);\nint y;\n", ""},
        Case{"BlockComment", "/* kernel<<<1, 1>>>(x);\n __shared__ */ int y;\n", ""},
        Case{"String", R"(auto s = "k<<<1, 1>>>(x) // \" __shared__";)", ""},
        Case{"PrefixedString", R"(auto s = u8"k<<<" L"'" + U'"' + u"<<<";)", ""},
        Case{"RawString", "auto s = R\"x(k<<<1, 1>>>(x)\" )\" \\)x\";\n", ""},
        Case{"PrefixedRawString", "auto s = LR\"(\"<<<)\" u8R\"-(<<<)-\";\n", ""},
        Case{"NoRawString", "int R; auto s = xR\"(\" \")\";\n", ""},
        Case{"Character", R"(char c = '"', d = '\'', e = '<'; // "<<<)", ""},
        Case{"DigitSeparators", "int n = 1'000'000; long m = 0xAB'CDull + 1'0; char c = '<';\n",
             ""},
        Case{"Exponents", "double d = 1e+5 - .5e-3f + 0x1.8p-3 + 1'0.0'1;\n", ""},
        Case{"Shifts", "x = a << b >> c; y <<= 3; z >>= 2; std::cout << a << b;\n", ""},
        Case{"NestedTemplates", "A<B<C<int>>> x; A<B<C<(1 > 0)>>>::D y;\n", ""},
        Case{"OperatorTemplate", "operator<<<int>(x); X::operator<<<A>(y);\n", ""},
        Case{"Spaceship", "auto o = a <=> b; bool c = a <= b;\n", ""},
        Case{"ConflictMarkers", "<<<<<<< ours\n=======\n>>>>>>> theirs\n", ""},
        Case{"Directives",
             "#error don't <<< this\n#include <it's.h>\n#if 1 // \"\nint x;\n#endif\n", ""},
        Case{"DirectiveWithComment", "#define A /* <<<\n */ 1\n#endif /* don't\n <<< */\n", ""},
        Case{"ApostropheLeftOut", "#if 0\nI don't\n#endif\nint x;\n", ""},
        Case{"EmptyDefine", "#define A\n#define\n#\nint x;\n", ""},
        Case{"OtherPragmas", "#pragma once\n#pragma GCC unroll 4\n", ""},
        Case{"CarriageReturns", "#define A 1\r\nint x; // y\r\n#if A\r\n#endif\r\n", ""},
        Case{"OtherCasts",
             "f((void**)&x, (void*)(y + 1), (void*)y + 1); b = (void*)p < (void*)q[0];", ""},
        Case{"SharedAsPartOfAWord", "int my__shared__x; int __shared__2;\n", ""}),
    name_of);

// ------------------------------------------------------------------------------------------ casts

TEST(TranslateCast, KeepsTheTypeOfAKernelWhoseAddressIsTaken) {
  const std::string kernels =
      "__global__ void __launch_bounds__(64) k(int* x);"
      "template <class T, int n> __global__ void l(T* x) {} ";
  const auto cast = [&](const std::string& text) {
    const std::string translated = body(kernels + text);
    EXPECT_EQ(translated.substr(0, kernels.size()), kernels);
    return translated.substr(kernels.size());
  };
  EXPECT_EQ(cast("f((void*)k, (const void *)&k, x);"),
            "f(::cuda_on_cpu::untyped(k), "
            "static_cast<const void*>(::cuda_on_cpu::untyped(&k)), x);");
  EXPECT_EQ(cast("p = (void*)a::l<B<int>, 2>;"), "p = ::cuda_on_cpu::untyped(a::l<B<int>, 2>);");
  EXPECT_EQ(cast("reinterpret_cast<void*>(k);"), "::cuda_on_cpu::untyped(k);");
  EXPECT_EQ(cast("(void*)x; (void*)k(y); (void**)k; (void*)k + z;"),
            "(void*)x; (void*)k(y); (void**)k; (void*)k + z;");
}

// --------------------------------------------------------------------------------------- launches

class Translates : public testing::TestWithParam<Case> {};

TEST_P(Translates, ToThisText) {
  EXPECT_EQ(body(GetParam().text), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Launch, Translates,
    testing::Values(
        Case{"Plain", "k<<<1, 2>>>(a, b);", launch("k", "1, 2", "a, b") + ";"},
        Case{"Full", "k<<<g, b, n * sizeof(T), s>>>(a);",
             launch("k", "g, b, n * sizeof(T), s", "a") + ";"},
        Case{"WithoutArguments", "k<<<1, 1>>>( /* none */ );",
             "Launch(\"k\", {1, 1})([=](auto... a) { k(a...); } /* none */ );"},
        Case{"TemplateArguments", "ns::k<A, (1>0)><<<1, 1>>>(a);",
             launch("ns::k<A, (1>0)>", "1, 1", "a") + ";"},
        Case{"NestedTemplateArguments", "k<A<B<int>>><<<1, 1>>>(a);",
             launch("k<A<B<int>>>", "1, 1", "a") + ";"},
        Case{"ShiftInTemplateArguments", "k<1 << 3, A<(8 >> 1)>><<<1, 1>>>(a);",
             launch("k<1 << 3, A<(8 >> 1)>>", "1, 1", "a") + ";"},
        Case{"GlobalName", "return ::a::k<<<1, 1>>>(b);",
             "return " + launch("::a::k", "1, 1", "b") + ";"},
        Case{"ScopeIsATemplate", "A<B, C<D>>::template k<T><<<1, 1>>>(b);",
             launch("A<B, C<D>>::template k<T>", "1, 1", "b") + ";"},
        Case{"Member", "if (x) o.p->k<<<1, 1>>>(b);",
             "if (x) " + launch("o.p->k", "1, 1", "b") + ";"},
        Case{"This", "this->k<<<1, 1>>>(b);",
             "Launch(\"this->k\", {1, 1})([=, this](auto... a) { this->k(a...); }, b);"},
        Case{"Element", "pointers[i][j]<<<1, 1>>>(b);",
             launch("pointers[i][j]", "1, 1", "b") + ";"},
        Case{"Dereferenced", "(*pointer)<<<1, 1>>>(b);", launch("(*pointer)", "1, 1", "b") + ";"},
        Case{"DereferencedBehindIf", "if (x > 1) (*p)<<<1, 1>>>(b); else (*q)<<<1, 1>>>(c);",
             "if (x > 1) " + launch("(*p)", "1, 1", "b") + "; else " + launch("(*q)", "1, 1", "c") +
                 ";"},
        Case{"Called", "pick<T>(x, 'y')(z)<<<1, 1>>>(b);",
             launch("pick<T>(x, 'y')(z)", "1, 1", "b") + ";"},
        Case{"TwoInAStatement", "k<<<1, 1>>>(a), l<<<2, 2>>>(b);",
             launch("k", "1, 1", "a") + ", " + launch("l", "2, 2", "b") + ";"},
        Case{"Choice", "x ? k<<<1, 1>>>(a):l<<<2, 2>>>(b);",
             "x ? " + launch("k", "1, 1", "a") + ": " + launch("l", "2, 2", "b") + ";"},
        Case{"Nested", "k<<<1, f([&] { l<<<2, 2>>>(b); })>>>(g(m<<<3, 3>>>(c)));",
             launch("k", "1, f([&] { " + launch("l", "2, 2", "b") + "; })",
                    "g(" + launch("m", "3, 3", "c") + ")") +
                 ";"},
        Case{"Lambda", "auto f = [&](int n) { k<<<n, 1>>>(n); };",
             "auto f = [&](int n) { " + launch("k", "n, 1", "n") + "; };"},
        Case{"ShiftInConfiguration", "k<<<n << 1, n >> 1>>>(a << b);",
             launch("k", "n << 1, n >> 1", "a << b") + ";"},
        Case{"ComparisonInConfiguration", "k<<<n < 3 ? 1 : 2, n > 3 ? m >= 4 : m <= 5>>>(a);",
             launch("k", "n < 3 ? 1 : 2, n > 3 ? m >= 4 : m <= 5", "a") + ";"},
        Case{"ThreeComparisons", "k<<<a < 1 + b < 2 + c < 3, 4>>>(a); l<<<1, 1>>>(b);",
             launch("k", "a < 1 + b < 2 + c < 3, 4", "a") + "; " + launch("l", "1, 1", "b") + ";"},
        Case{"TemplateEndsConfiguration", "k<<<1, size<T>>>>(a); k<<<1, size<A<B>>>>>(a);",
             launch("k", "1, size<T>", "a") + "; " + launch("k", "1, size<A<B>>", "a") + ";"},
        Case{"ThreeTemplatesEndTogether", "k<<<f<A<B<int>>>(n), 1>>>(a);",
             launch("k", "f<A<B<int>>>(n), 1", "a") + ";"},
        Case{"ArrowInConfiguration", "k<<<p->blocks, q->f<3>()>>>(a->b > c);",
             launch("k", "p->blocks, q->f<3>()", "a->b > c") + ";"},
        Case{"CommentsAround", "k /* < */ <<< /* a */ 1, 1 /* > */ >>> /* b */ (a /* c */);",
             "Launch(\"k\", { /* a */ 1, 1 /* > */ })([=](auto... a) { k(a...); }, a /* c */);"},
        Case{
            "StringsInside", R"x(k<'>', T{"<"}><<<f(">>>"), 1>>>(")", '(');)x",
            R"x(Launch("k<'>', T{\"<\"}>", {f(">>>"), 1})([=](auto... a) { k<'>', T{"<"}>(a...); }, ")", '(');)x"},
        Case{"SeveralLines", "k<A,\n  B> // why\n  <<<1, // one\n    2>>>\n(a,\n b\n);",
             "Launch(\"k<A, B>\", {\n\n1, // one\n    2})([=](auto... a) { k<A, B>(a...); }, "
             "\na,\n b\n);"},
        Case{"Conditional", "k<<<1, 1>>>(a\n#ifdef B\n, b\n#endif\n);",
             launch("k", "1, 1", "a\n#ifdef B\n, b\n#endif\n") + ";"},
        Case{"Macro", "#define GO(k, ...) k<T><<<1, 1>>>(__VA_ARGS__)\nGO(a)",
             "#define GO(k, ...) " + launch("k<T>", "1, 1", "__VA_ARGS__") + "\nGO(a)"},
        Case{"MacroOfSeveralLines", "#define GO(a) \\\n  k<\"#\", \\\n T><<<1, \\\n 1>>> \\\n(a)\n",
             "#define GO(a) \\\n  Launch(\"k<\\\"#\\\", T>\", { \\\n 1, \\\n 1})([=](auto... a) { "
             "k<\"#\", T>(a...); },  \\\na)\n"},
        Case{"MacroWithBraces", "#define GO { k<<<1, 1>>>(a); \nint x;",
             "#define GO { " + launch("k", "1, 1", "a") + "; \nint x;"}),
    name_of);

TEST(TranslateLaunch, PassesVariablesByReferenceAndZeroAsAPointer) {
  const std::string kernel = "__global__ void k(T& a, const U& b, int (&c)[2], D* d, int e) {}\n";
  EXPECT_EQ(body(kernel + "k<<<1, 1>>>(x, y, z, 0, 0);"),
            kernel +
                "Launch(\"k\", {1, 1})([=](auto... a) { k(passed(a)...); }, "
                "by_reference(x), y,by_reference( z), nullptr, 0);");
}

TEST(TranslateLaunch, TakesWhatFormattersMakeOfIt) {
  EXPECT_EQ(body("k << <1, f<g<int> >() >> > (a);"), launch("k", "1, f<g<int> >() ", "a") + ";");
  EXPECT_EQ(body("a << b < c;"), "a << b < c;");
  EXPECT_EQ(body("operator<< <T>(a);"), "operator<< <T>(a);");
}

// ---------------------------------------------------------------------------------- shared memory

std::string in_kernel(const std::string& text) {
  return "void f() { " + text + " }";
}

class TranslatesInKernel : public testing::TestWithParam<Case> {};

TEST_P(TranslatesInKernel, ToThisText) {
  EXPECT_EQ(body(in_kernel(GetParam().text)), in_kernel(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Shared, TranslatesInKernel,
    testing::Values(
        Case{"Array", "__shared__ float tile[32][N + 1];",
             R"(auto& tile = shared<float[32][N + 1]>([] {}, "tile");)"},
        Case{"Scalar", "__shared__ bool done;", R"(auto& done = shared<bool>([] {}, "done");)"},
        Case{"SeveralVariables", "__shared__ unsigned int a[f(1, 2)], *b, c;",
             R"(auto& a = shared<unsigned int[f(1, 2)]>([] {}, "a"); )"
             R"(auto& b = shared<unsigned int*>([] {}, "b"); )"
             R"(auto& c = shared<unsigned int>([] {}, "c");)"},
        Case{"Volatile", "__shared__ volatile T x[2];",
             R"(auto& x = shared<volatile T[2]>([] {}, "x");)"},
        Case{"DependentType", "__shared__ typename A<T, (1 > 0)>::template B<1>::C x;",
             R"(auto& x = shared<typename A<T, (1 > 0)>::template B<1>::C>([] {}, "x");)"},
        Case{"TypeOf", "__shared__ decltype(a[0]) x[2];",
             R"(auto& x = shared<decltype(a[0])[2]>([] {}, "x");)"},
        Case{"Aligned", "__shared__ alignas(16) float x[4];",
             R"(auto& x = shared<float[4]>([] {}, "x", 16);)"},
        Case{"AlignedBefore", "__align__(sizeof(T) * 4) __shared__ T x[4];",
             R"(auto& x = shared<T[4]>([] {}, "x", sizeof(T) * 4);)"},
        Case{"AfterTheType", "static const A<B> __shared__ *const p;",
             R"(auto& p = shared<const A<B>* const>([] {}, "p");)"},
        Case{"Attribute", "[[maybe_unused]] __shared__ int x;",
             R"([[maybe_unused]] auto& x = shared<int>([] {}, "x");)"},
        Case{"Dynamic", "extern __shared__ float s[];",
             R"(float* const s = dynamic_shared<float>("s");)"},
        Case{"DynamicAligned", "extern __shared__ __align__(16) unsigned char s[];",
             R"(unsigned char* const s = dynamic_shared<unsigned char>("s");)"},
        Case{"DynamicRows", "extern __shared__ T s[][32];",
             R"(auto* const s = dynamic_shared<T[32]>("s");)"},
        Case{"SeveralLines", "int i;\n__shared__ float // x\n  a[2],\n  b;\nint j;",
             "int i;\nauto& a = shared<float[2]>([] {}, \"a\"); auto& b = shared<float>([] {}, "
             "\"b\")\n\n;\nint j;"},
        Case{"BehindALabel", "if (x) { y(); } again: __shared__ int a;",
             R"(if (x) { y(); } again: auto& a = shared<int>([] {}, "a");)"},
        Case{"Unrolled", "\n#pragma unroll 4\nfor (;;) _Pragma(\"unroll\") for (;;) {}",
             "\n//#pragma unroll 4\nfor (;;)  for (;;) {}"}),
    name_of);

TEST(TranslateShared, WorksInMacros) {
  EXPECT_EQ(body("#define TILE(T) __shared__ T t[2] \\\n  [3]\n"),
            "#define TILE(T) auto& t = shared<T[2][3]>([] {}, \"t\") \\\n  \n");
  EXPECT_EQ(body("#define TILES do { __shared__ int a; __shared__ int b; } while (0)\n"),
            "#define TILES do { auto& a = shared<int>([] {}, \"a\"); auto& b = shared<int>([] {}, "
            "\"b\"); } while (0)\n");
}

TEST(TranslateShared, SeesFunctionsInNamespacesAndBranches) {
  const std::string kernel = "{ __shared__ int a; }";
  const std::string translated = "{ auto& a = shared<int>([] {}, \"a\"); }";
  const std::string around = "namespace a::b { extern \"C\" { struct S { void f() ";
  EXPECT_EQ(body(around + kernel + " }; } }"), around + translated + " }; } }");
  const std::string branches =
      "namespace a {\n#if X\nvoid f() {\n#else\nvoid f(int) {\n#endif\n}\n";
  EXPECT_EQ(body(branches + "void g() " + kernel + "}"), branches + "void g() " + translated + "}");
  EXPECT_EQ(body(branches + "__shared__ int a; }"),
            branches + "struct cuda_on_cpu_shared_31 {}; }");
}

// -------------------------------------------------------------------------------------------- PTX

std::string in_device_function(const std::string& text) {
  return "__device__ void f() { " + text + " }";
}

TEST(TranslatePtx, ReadsSpecialRegisters) {
  EXPECT_EQ(body(in_device_function("asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(x[1]));")),
            in_device_function("(x[1]) = ::cuda_on_cpu::own_lane();"));
  EXPECT_EQ(body(in_device_function("__asm__(\n\"mov.u64 \\t%0, %clock64;\\n\" : \"=l\"(t) ::);")),
            in_device_function("(t) = clock64()\n;"));
}

TEST(TranslatePtx, MultipliesMatrices) {
  EXPECT_EQ(
      body(in_device_function(
          "asm volatile(\n\"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 \"\n"
          "\"{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};\\n\"\n"
          ": \"+d\"(c[0]), \"+d\"(c[1]), \"+d\"(c[2]), \"+d\"(c[3])\n"
          ": \"d\"(a[0]), \"d\"(a[1]), \"d\"(f(1, 2)) : \"memory\");")),
      in_device_function("::cuda_on_cpu::multiply_matrices<16, 8, 4, ::cuda_on_cpu::Binary64, "
                         "double>(::cuda_on_cpu::results((c[0]), (c[1]), (c[2]), (c[3])), "
                         "::cuda_on_cpu::registers((a[0]), (a[1])), "
                         "::cuda_on_cpu::registers((f(1, 2))), "
                         "::cuda_on_cpu::registers((c[0]), (c[1]), (c[2]), (c[3])))\n\n\n\n;"));
}

TEST(TranslatePtx, LeavesOtherAssemblyAlone) {
  const std::vector<std::string> others = {
      R"(asm("bar.sync 0;");)", R"(asm("mov.u32 %0, %%envreg3;" : "=r"(x));)",
      R"(asm("mov.u32 %0, %%laneid; mov.u32 %1, %%smid;" : "=r"(x));)",
      R"(asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0};");)",
      R"(asm("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%0}, {%0}, {%0}, {%0};" : "+r"(x));)"};
  for (const std::string& text : others) {
    EXPECT_EQ(body(in_device_function(text)), in_device_function(text));
  }
  const std::string on_the_host = R"(void f() { asm("mov.u32 %0, %%laneid;" : "=r"(x)); })";
  EXPECT_EQ(body(on_the_host), on_the_host);
}

// ------------------------------------------------------------------------------------- complaints

class Refuses : public testing::TestWithParam<Case> {};

TEST_P(Refuses, WithThisSentence) {
  EXPECT_EQ(complaint(GetParam().text), "/f.cu:" + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Translate, Refuses,
    testing::Values(
        Case{"NoArguments", "\n\nk<<<1, 1>>>;",
             "3: a launch needs its arguments in parentheses behind >>>"},
        Case{"ArgumentsElsewhere", "#define GO k<<<1, 1>>>\nGO(a);",
             "1: a launch needs its arguments in parentheses behind >>>"},
        Case{"NeverClosed", "\nk<<<1, 1>>(a);\n",
             "2: the <<< of this launch is never closed by >>>"},
        Case{"ClosedTooLate", "f(k<<<1, 1);\nl<<<1, 1>>>(b);",
             "1: the <<< of this launch is never closed by >>>"},
        Case{"NoKernel", "int x;\n<<<1, 1>>>(a);", "2: no kernel stands before <<<"},
        Case{"KeywordForKernel", "return <<<1, 1>>>(a);", "1: no kernel stands before <<<"},
        Case{"NumberForKernel", "3<<<1, 1>>>(a);", "1: no kernel stands before <<<"},
        Case{"OpenArguments", "{\nk<<<1, 1>>>(a;\n", "2: the '(' is never closed"},
        Case{"OpenConfiguration", "k<<<f(1, 1>>>(a);", "1: the '(' is never closed"},
        Case{"OpenBracketInMacro", "#define GO k<<<1, f(>>>(a)\n)\n", "1: the '(' is never closed"},
        Case{"NoTemplateBegin", "k, a><<<1, 1>>>(a);",
             "1: the template arguments that end with this '>' have no beginning"},
        Case{"NoParenthesis", "a)<<<1, 1>>>(a);", "1: the ')' was never opened"},
        Case{"LaunchInKernelName", "p(q<<<1, 1>>>(x))<<<1, 1>>>(a);",
             "1: a launch within the expression that names a kernel is too involved"},
        Case{"OpenComment", "int x;\n/* kernel\n", "2: the comment that begins here never ends"},
        Case{"OpenRawString", "\nauto s = R\"x(...)\";\n",
             "2: the raw string that begins here never ends"},
        Case{"Initialized", "void f() {\n__shared__ int b = 3;\n}",
             "2: shared memory cannot be initialized where it is declared; its type needs a name"},
        Case{"InitializedWithBraces", "void f() {\n__shared__ int b{3};\n}",
             "2: shared memory cannot be initialized where it is declared; its type needs a name"},
        Case{"InitializedWithParentheses", "void f() {\n__shared__ A b(3);\n}",
             "2: this declaration of shared memory is too involved; give its type a name"},
        Case{"PointerToArray", "void f() {\n__shared__ int (*b)[3];\n}",
             "2: this declaration of shared memory is too involved; give its type a name"},
        Case{"NoName", "void f() {\n__shared__ int;\n}",
             "2: a type and a name are expected behind __shared__"},
        Case{"QualifierOnly", "#define SHARED __shared__\n",
             "1: a type and a name are expected behind __shared__"},
        Case{"DynamicScalar", "void f() { extern __shared__ int b; }",
             "1: extern __shared__ must declare an array"},
        Case{"AlignmentWithoutValue", "void f() { __shared__ alignas int b; }",
             "1: an alignment needs its parentheses"},
        Case{"NoEnd", "void f() { __shared__ int b",
             "1: the declaration of shared memory has no end"}),
    name_of);

// ------------------------------------------------------------------------- types, bounds, outside

INSTANTIATE_TEST_SUITE_P(
    SharedTypes, TranslatesInKernel,
    testing::Values(Case{"StructInPlace", "__shared__ struct {\n int a; } s, t[2];\nint i;",
                         "struct cuda_on_cpu_type_10 {\n int a; }; auto& s = "
                         "shared<cuda_on_cpu_type_10>([] {}, \"s\"); "
                         "auto& t = shared<cuda_on_cpu_type_10[2]>([] {}, \"t\");\nint i;"},
                    Case{"NamedUnionInPlace", "volatile __shared__ union U { int a; } u;",
                         "union U { int a; }; auto& u = shared<volatile U>([] {}, \"u\");"},
                    Case{"TypeOfC", "__shared__ struct node list[3];",
                         "auto& list = shared<struct node[3]>([] {}, \"list\");"},
                    Case{"AlignedByAttribute", "__shared__ __attribute__((aligned(32))) float x;",
                         "auto& x = shared<float>([] {}, \"x\", 32);"}),
    name_of);

TEST(TranslateShared, OutsideOfFunctionsIsDeclaredWhereItIsUsed) {
  EXPECT_EQ(
      body("extern __shared__ int s[];\n__global__ void k() { s[0] = 1; }\n"
           "__global__ void l(int s) { s = 1; } __device__ void m() { float s = 1; n.s = 2; }"),
      "struct cuda_on_cpu_shared_2 {};\n"
      "__global__ void k() { int* const s = dynamic_shared<int>(\"s\"); s[0] = 1; }\n"
      "__global__ void l(int s) { s = 1; } __device__ void m() { float s = 1; n.s = 2; }");
}

TEST(TranslateBounds, AreTheKernelsFirstStatement) {
  const std::string check = " if (::cuda_on_cpu::exceeds_launch_bound(64)) return;";
  for (const std::string head :
       {"__global__ void __launch_bounds__(64) k(int* x)",
        "__launch_bounds__(64, 2) __global__ void k()",
        "extern \"C\" __global__ __launch_bounds__(64, f<1, 2>()) void k(int a = g(1))"}) {
    EXPECT_EQ(body(head + " { a(); }"), head + " {" + check + " a(); }");
  }
  EXPECT_EQ(body("__global__ void __launch_bounds__(64) k(int* x);"),
            "__global__ void __launch_bounds__(64) k(int* x);");
  EXPECT_NE(body("__global__ void __launch_bounds__(64) k() {} void f() { k<<<1, 2>>>(); }")
                .find("::cuda_on_cpu::BoundedLaunch(\"k\""),
            std::string::npos);
}

TEST(TranslateWords, TakesThoseOfNvcc) {
  EXPECT_EQ(body("__device__ double atomicAdd(double* a, double b) { return 0; }\n"
                 "__device__ float atomicAdd(X* a, float b) { return 0; }"),
            "__device__ double atomicAdd_of_old_devices(double* a, double b) { return 0; }\n"
            "__device__ float atomicAdd(X* a, float b) { return 0; }");
  EXPECT_EQ(body("__device__ __noinline__ int f(); __attribute__((__noinline__)) int g();"),
            "__device__ __attribute__((noinline)) int f(); __attribute__((__noinline__)) int g();");
  EXPECT_EQ(body("__forceinline__ inline int f();"),
            "__attribute__((always_inline)) inline int f();");
  EXPECT_EQ(body("k<<<1, 1>>>(NULL, f(x, NULL + 1)); p = NULL;"),
            launch("k", "1, 1", "nullptr, f(x, NULL + 1)") + "; p = NULL;");
}

// ----------------------------------------------------------------------------------- preprocessed

std::string preprocessed(const std::string& text) {
  try {
    return shortened(translate_preprocessed(text, "/tmp/f.ii"));
  } catch (const TranslationError& error) {
    return error.what();
  }
}

TEST(TranslatePreprocessed, KeepsWhatTheSystemsHeadersSay) {
  const std::string header = "# 1 \"/usr/include/x.h\" 1 3 4\nk<<<1, 1>>>(a); tex2D(x);\n";
  EXPECT_EQ(preprocessed("# 0 \"f.cu\"\n" + header + "# 2 \"f.cu\" 2\nk<<<1, 1>>>(b);\n"),
            "# 0 \"f.cu\"\n" + header + "# 2 \"f.cu\" 2\n" + launch("k", "1, 1", "b") + ";\n");
}

TEST(TranslatePreprocessed, FollowsLinesWithinALaunch) {
  EXPECT_EQ(
      preprocessed("# 1 \"f.cu\"\nk<<<1, 1>>>(a,\n# 2 \"f.cu\" 3 4\n__null\n# 2 \"f.cu\"\n);\n"),
      "# 1 \"f.cu\"\n" + launch("k", "1, 1", "a,\n# 2 \"f.cu\" 3 4\nnullptr\n# 2 \"f.cu\"\n") +
          ";\n");
}

TEST(TranslatePreprocessed, LanesReadBeforeTheyStoreThroughVolatile) {
  const std::string head = "# 1 \"f.cu\"\n";
  EXPECT_EQ(
      preprocessed(head + "__device__ void f(volatile T* p) { if (a) p[t] += p[t + 8]; else p[t] = "
                          "b; q[t] = p[t]; p[i++] = 1; f(p[t] = 2); p[t].x = 3; l:p[1]=2; }"),
      head +
          "__device__ void f(volatile T* p) { if (a) store_in_lockstep(p[t], [&] { return p[t] + "
          "( p[t + 8]); }); else store_in_lockstep(p[t], [&] { return  b; }); q[t] = p[t]; "
          "p[i++] = 1; f(p[t] = 2); p[t].x = 3; l: store_in_lockstep(p[1], [&] { return 2; }); }");
}

TEST(TranslatePreprocessed, TakesItsFunctionsFromThePassForADevice) {
  const std::string both = "# 1 \"f.cu\"\nint a;\n__global__ void k() {";
  const std::string host =
      both + "}\n__host__ __device__ int f() { return 1; }\nint main() { h(); }\n";
  const std::string device =
      both + " d(); }\n__host__ __device__ int f() { return 2; }\nint main() { }\n";
  EXPECT_EQ(merge_passes(host, host, "f.ii"), host);
  EXPECT_EQ(merge_passes(host, device, "f.ii"),
            both +
                "\n# 2 \"f.cu\"\n d(); \n# 2 \"f.cu\"\n}\n__host__ __device__ int f() {"
                "if (::cuda_on_cpu::runs_in_kernel()) {\n# 3 \"f.cu\"\n return 2; } else {\n"
                "# 3 \"f.cu\"\n return 1; }\n# 3 \"f.cu\"\n}\nint main() { h(); }\n");
}

TEST(TranslatePreprocessed, ArgumentsBecomeWhatTheOnlyKernelOfTheNameTakes) {
  const std::string kernel = "__global__ void k(P p, int n) { }\n";
  const auto typed = [](const std::string& name) {
    return "Launch(\"" + name + "\", {1, 1}).of(" + name + ", [=](auto... a) { " + name +
           "(a...); }).with({1, 2}, 3)";
  };
  const std::string generic = launch("k", "1, 1", "{1, 2}, 3");
  const std::string text = "void f() { k<<<1, 1>>>({1, 2}, 3); }";
  EXPECT_EQ(preprocessed(kernel + text), kernel + "void f() { " + typed("k") + "; }");
  EXPECT_EQ(preprocessed("__global__ void k(P p, int n);\n" + kernel +
                         "auto x = a::k<<<1, 1>>>({1, 2}, 3);"),
            "__global__ void k(P p, int n);\n" + kernel + "auto x = " + typed("a::k") + ";");
  for (const std::string other :
       {"__global__ void k(P p, int n, int m) { }\n", "void k(P p);\n", "int* k(P p);\n"}) {
    EXPECT_EQ(preprocessed(kernel + other + text), kernel + other + "void f() { " + generic + "; }")
        << other;
  }
  for (const std::string only :
       {"template <class T> __global__ void k(T p, int n) { }\n",
        "__global__ void k(P p, int n = 3) { }\n", "__global__ void k(P p, int n, int m) { }\n",
        "__global__ void other(P p, int n) { }\n"}) {
    EXPECT_EQ(preprocessed(only + text), only + "void f() { " + generic + "; }") << only;
  }
}

TEST(TranslatePreprocessed, FunctionsOfTheRuntimeAsValues) {
  const std::string plain = "::cuda_on_cpu::WithoutPlace<&::cudaFree>::call";
  EXPECT_EQ(preprocessed("p(x, cudaFree); decltype(&::cudaFree) y; return cudaFree;"),
            "p(x, " + plain + "); decltype(&" + plain + ") y; return " + plain + ";");
  for (const std::string left :
       {"cudaFree(p);", "::cudaFree (p);", "using ::cudaFree;", "auto cudaFree = 1;", "a.cudaFree;",
        "a->cudaFree;", "T<int>::cudaFree;", "x = cudaSuccess;", "f(cudaGetLastError);",
        "cudaMalloc<float>(&p, 4);"}) {
    EXPECT_EQ(preprocessed(left), left);
  }
}

TEST(TranslatePreprocessed, LoopsOnVolatileVariablesLetOthersRun) {
  const std::string head = "__device__ volatile int f; __global__ void k() { ";
  const std::string inserted = " ::cuda_on_cpu::note_attempt(true), ";
  EXPECT_EQ(preprocessed(head + "while (f == 0) ++n; do { } while (!f); }"),
            head + "while (" + inserted + "f == 0) ++n; do { } while (" + inserted + "!f); }");
  EXPECT_EQ(preprocessed(head + "for (; f == 0;) { } }"),
            head + "for (; " + inserted + "f == 0;) { } }");
  for (const std::string left :
       {"while (g == 0) ++n; }", "while (int i = f) ++n; }",
        "for (volatile int i = 0; i < n;) n(); }", "x = *(volatile int*)p; while (int(n)) ++n; }",
        "} __device__ void g(volatile int n) { } __global__ void l() { while (n) ++n; }",
        "} constexpr __device__ int g() { while (f) ++n; }"})
    EXPECT_EQ(preprocessed(head + left), head + left);
}

TEST(TranslatePreprocessed, RefusesCallsOfTheWrongSide) {
  const std::string host = "int h(int x) { return x; }\n";
  const std::string device = "__device__ int d() { return 1; }\n";
  const std::string kernel = "__global__ void k(int* x) { }\n";
  const std::string place = "# 1 \"f.cu\"\n";
  EXPECT_EQ(
      preprocessed(place + host + "__global__ void k() { h(1); }"),
      "f.cu:2: the kernel 'k' calls 'h', a function of the host; write __device__ before that one");
  EXPECT_EQ(
      preprocessed(place + "__device__ int r() { return std::rand(); }"),
      "f.cu:1: the device function 'r' calls 'rand', a function of the host, which no GPU has");
  EXPECT_EQ(
      preprocessed(place + device + "int main() { int x = 2 * d(); }"),
      "f.cu:2: 'main' calls 'd' on the host, but that is __device__; write __host__ __device__ "
      "before it");
  EXPECT_EQ(
      preprocessed(place + kernel + "namespace a { void f() { k(x); } }"),
      "f.cu:2: the kernel 'k' is called like a function; launch it: k<<<blocks, threads>>>(...)");
  EXPECT_EQ(preprocessed(place + "__global__ unsigned k() { }"),
            "f.cu:1: the kernel 'k' returns something, but a kernel must be void");
  EXPECT_EQ(preprocessed(place + "void k(int* x) { }\nint main() { k<<<1, 2>>>(x); }"),
            "f.cu:2: 'k' is launched, but is no kernel; declare it as __global__ void");
  for (const std::string& right :
       {host + "__device__ int h(float x);\n__global__ void k() { h(1); }",
        "constexpr " + host + "__global__ void k() { h(1); }",
        "template <class T> " + host + "__global__ void k() { h(1); }",
        host + "struct S { int g; };\n__global__ void k(S s) { s.h(1); S::h(1); }",
        host + "__global__ void k() { auto h = [](int x) { return x; }; h(1); }",
        host + "__global__ void k(F h) { h(1); }",
        host + "template <class T> __device__ void k(T x) { h(x); }",
        host + "__host__ __device__ void k() { h(1); }",
        device + "int d(int x);\nint main() { d(); }",
        device + "int main() { auto d = 1; s.d(); a::d(); }",
        "__host__ " + device + "int main() { d(); }",
        device + "int main() { auto l = [] __device__ () { return d(); }; }",
        kernel + "void k(float x);\nint main() { k(x); }",
        device + "int apply(int (*d)()) { return d(); }",
        device + "int main() { A other(1), d(2); d(); }",
        device + "struct S { F d; int f() { return d(); } };\nint f() { return d(); }",
        device + "int main() { d(1, 2); }",
        device + "int main() { sizeof(d()); }",
        device + "# 1 \"h.h\" 1 3\nint d(int x);\n# 1 \"f.cu\" 2\nint main() { d(); }",
        host + "template <class F> struct M { F h; __device__ void go() { h(1); } };",
        "namespace a { " + host + "}\n__global__ void k() { h(1); }",
        host + "__global__ void k() { h(1, 2); }",
        host + "__global__ void k() { using b::h; h(1); }",
        std::string("template <int N> __global__ void k(int x) { }\n"
                    "template <> __global__ void k<3>(int x) { }")}) {
    EXPECT_EQ(preprocessed(place + right), place + right);
  }
  for (const std::string& launch : {kernel + "void k(float x);\nint main() { k<<<1, 2>>>(x); }",
                                    "template <class T> " + host + "int main() { h<<<1, 2>>>(x); }",
                                    host + "void f(void (*h)(int)) { h<<<1, 2>>>(x); }"}) {
    EXPECT_NE(preprocessed(place + launch).find("Launch("), std::string::npos) << launch;
  }
}

TEST(TranslatePreprocessed, RefusesByFileLineAndName) {
  const std::string head = "# 1 \"f.cu\"\n\n# 7 \"g.cuh\"\n";
  EXPECT_EQ(
      preprocessed(head + "texture<float> t;"),
      "g.cuh:7: 'texture': CUDA on the CPU has no textures and no surfaces; this needs a GPU");
  EXPECT_EQ(preprocessed(head + "\n__global__ void k() { asm(\"\"); }"),
            "g.cuh:8: inline PTX (asm) in the kernel 'k' is for a GPU's processor; of PTX, CUDA on "
            "the CPU knows mma.sync and reading special registers, so write this in C++");
  EXPECT_EQ(preprocessed(head + "template <int n> __device__ T<n> f() { k<<<1, 1>>>(); }"),
            "g.cuh:7: the device function 'f' launches a kernel; CUDA on the CPU has no dynamic "
            "parallelism, so launch it from the host");
  EXPECT_EQ(preprocessed(head + "CUdevice d;"),
            "g.cuh:7: 'CUdevice' is of the driver API; CUDA on the CPU has the runtime API "
            "(cuda...) only");
  for (const std::string right : {"int texture = 1;", "int tex2D = 2;",
                                  "void f() { asm(\"nop\"); }", "int curve = cubed(2);"}) {
    EXPECT_EQ(preprocessed(head + right), head + right);
  }
}

TEST(Translate, QuotesThePathOfTheOriginal) {
  EXPECT_EQ(translate("int x;", "/a \"b\"\\c.cu"), "#line 1 \"/a \\\"b\\\"\\\\c.cu\"\nint x;");
}

}  // namespace
}  // namespace cuda_on_cpu

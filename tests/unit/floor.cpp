/// @file
/// A file that includes a header of another floor; see stagewise_floor_test().

#if __has_include(HOME)
#include HEADER
#else
#error the header is not in its own include root
#endif

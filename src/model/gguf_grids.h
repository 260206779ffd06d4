// The codebooks of GGUF's IQ1, IQ2 and IQ3 types: eight or four weights share one number.
#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace tokamak {

/// A number of the file stands for a row: for each weight, the place of its magnitude (of its value
/// for IQ1) among the few that the type has. Rows of four leave the last four entries at 0.
using GridRow = std::array<uint8_t, 8>;
using Grid = std::span<const GridRow>;

Grid iq1_grid();      // 2,048 rows of -1, 0, 1; of IQ1_S and IQ1_M
Grid iq2_xxs_grid();  // 256 rows of 8, 25, 43
Grid iq2_xs_grid();   // 512
Grid iq2_s_grid();    // 1,024
Grid iq3_xxs_grid();  // 256 rows of 4, 12, 20, 28, 36, 44, 52, 62
Grid iq3_s_grid();    // 512 rows of 1, 3, 5, 7, 9, 11, 13, 15

}  // namespace tokamak

// The same elements in row-major order, with another shape.
#include flat_element
#include element
fn element(n: i32, c: i32, y: i32, x: i32) -> f32 { return flat_element(((n * u.O_C + c) * u.O_H + y) * u.O_W + x); }

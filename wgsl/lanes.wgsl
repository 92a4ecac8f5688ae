// What the invocations of a workgroup have found, put together: halves of the group are combined in workgroup memory,
// which keeps the rounding error small. Who includes this has
//   alias Lane               what one invocation has found
//   fn combine(a: Lane, b: Lane) -> Lane
const LANES = 64; // a compiler for CPUs takes a quarter of the time that it takes for 256
var<workgroup> partial: array<Lane, LANES>;

// That of all of them, in lane 0. Every invocation of the group calls it.
fn combine_lanes(lane: i32, own: Lane) -> Lane {
    partial[lane] = own;
    for (var half = LANES / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            partial[lane] = combine(partial[lane], partial[lane + half]);
        }
    }
    return partial[lane]; // no other invocation writes it any more
}

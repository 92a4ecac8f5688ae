// Reduction over the invocations of a workgroup: halves of the group are combined in workgroup memory, pairwise, which
// keeps rounding errors small. The including kernel defines
//   alias Lane               the result of one invocation
//   fn combine(a: Lane, b: Lane) -> Lane
const LANES = 64; // software rasterisers compile it four times as fast as 256
var<workgroup> partial: array<Lane, LANES>;

// The combined result, valid in lane 0. Every invocation of the group calls it.
fn combine_lanes(lane: i32, value: Lane) -> Lane {
    partial[lane] = value;
    for (var half = LANES / 2; half > 0; half /= 2) {
        workgroupBarrier();
        if (lane < half) {
            partial[lane] = combine(partial[lane], partial[lane + half]);
        }
    }
    return partial[lane]; // no other invocation writes it any more
}

# SPDX-License-Identifier: MIT
"""The kernels that are mutated, and the shapes at which a mutant is run: more steps than twice the slots and three, more tiles than
multiprocessors, ragged edges; then as few as possible."""
from dataclasses import dataclass


@dataclass
class Kernel:
    name: str
    file: str
    kernel: str  # the function, where the file has several; None: its only one
    shapes: list  # ({dimension: extent}, multiprocessors)
    scalars: tuple = ()  # (name, bits)
    arguments: tuple = ()
    note: str = ""
    mechanical: bool = True
    condition: bool = False  # of the schedule set: what is known of accesses follows from it


ONE_TILE = ("-D", "persistent=0")  # a block for each tile

KERNELS = [
    Kernel("gemm_split", "examples/gemm/gemm.tk", "gemm_quarters", [({"M": 40, "N": 136, "K": 5000}, 8), ({"M": 64, "N": 128, "K": 64}, 8)],
           note="a sum split between the blocks of a cluster"),
    Kernel("gemm_decode", "examples/gemm/gemm.tk", "gemm_decode", [({"M": 70, "N": 136, "K": 2056}, 4), ({"M": 64, "N": 64, "K": 64}, 4)]),
    Kernel("gemm_wide", "examples/gemm/gemm.tk", "gemm_tile_64x128", [({"M": 70, "N": 136, "K": 1256}, 1), ({"M": 130, "N": 128, "K": 64}, 1)]),
    Kernel("gemm_turned", "examples/gemm/gemm.tk", "gemm_tile_256x128", [({"M": 264, "N": 72, "K": 704}, 1), ({"M": 520, "N": 72, "K": 64}, 1)],
           note="products computed turned, and stored through a staging buffer that is written turned"),
    Kernel("gemm_turns", "examples/gemm/gemm.tk", "gemm_turns_128x128", [({"M": 130, "N": 192, "K": 640}, 1), ({"M": 264, "N": 192, "K": 64}, 1)]),
    Kernel("gemm_no_pipe", "examples/gemm_no_pipe/gemm_no_pipe.tk", None, [({"M": 70, "N": 132, "K": 200}, 2)],
           note="threads copy, all in one role"),
    Kernel("attention_64", "test/run/attention_64.tk", None, [({"H": 1, "N": 130, "S": 970}, 2)], arguments=ONE_TILE, scalars=(("scale", 0x3D800000),),
           note="two products in a chain, a softmax between them"),
    Kernel("several_products", "test/run/several_products_in_flight.tk", None, [({"M": 70, "N": 136, "K": 840}, 2), ({"M": 64, "N": 64, "K": 64}, 2)], arguments=ONE_TILE,
           note="products in flight over a back edge, two slots of a pipe each iteration"),
    Kernel("relay", "test/run/relay.tk", None, [({"M": 70, "K": 840}, 2)], arguments=ONE_TILE, note="a tile handed from worker to worker"),
    Kernel("two_stage", "test/run/two_stage_store.tk", None, [({"M": 1980, "N": 136}, 2), ({"M": 130, "N": 584}, 2)],
           note="multicast in a cluster, a slot held over a loop"),
    Kernel("in_turn", "test/spec/in_turn.tk", None, [({"M": 262, "N": 320}, 1)], note="two workers that take turns"),
    Kernel("sm80_gemm", "examples/gemm_pipe/gemm_pipe.tk", None, [({"M": 70, "N": 136, "K": 840}, 2), ({"M": 64, "N": 128, "K": 40}, 2)],
           arguments=("--target=sm_80",), note="all threads copy ahead, wait by count, meet and multiply"),
    Kernel("sm80_attention_64", "test/run/attention_64.tk", None, [({"H": 1, "N": 130, "S": 840}, 2), ({"H": 1, "N": 130, "S": 40}, 2)],
           scalars=(("scale", 0x3D800000),), arguments=("--target=sm_80",), note="keys and values in groups of their own"),
    Kernel("sm80_two_stage", "test/run/two_stage_store.tk", None, [({"M": 396, "N": 136}, 2), ({"M": 130, "N": 328}, 2)],
           arguments=("--target=sm_80",), note="a slot held over a loop"),
    Kernel("sm80_several_products", "test/run/several_products_in_flight.tk", None, [({"M": 70, "N": 72, "K": 456}, 2), ({"M": 64, "N": 64, "K": 64}, 2)],
           arguments=("--target=sm_80",), note="two slots of a pipe each iteration, copied ahead"),
    Kernel("sm80_only_slots", "test/run/slots_share_room.tk", None, [({"M": 130, "H": 456}, 2), ({"M": 128, "H": 128}, 2)],
           arguments=("--target=sm_80",), note="slots that are filled again once they have been read"),
    Kernel("gfx950_gemm", "examples/gemm_pipe/gemm_pipe.tk", None, [({"M": 70, "N": 136, "K": 840}, 2), ({"M": 64, "N": 128, "K": 40}, 2)],
           arguments=("--target=gfx950",), note="waits count instructions"),
    Kernel("gfx942_gemm", "examples/gemm_pipe/gemm_pipe.tk", None, [({"M": 70, "N": 136, "K": 840}, 2), ({"M": 64, "N": 128, "K": 40}, 2)],
           arguments=("--target=gfx942",), note="copies go through registers, put down a step after they were fetched"),
    Kernel("gfx950_alternate", "test/passes/alternate/meetings.tk", None, [({"M": 130, "N": 136, "K": 392}, 2), ({"M": 128, "N": 128, "K": 24}, 2)],
           arguments=("--target=gfx950",), note="two instances, one of which loads while the other multiplies"),
    Kernel("gfx942_alternate", "test/passes/alternate/meetings.tk", None, [({"M": 130, "N": 136, "K": 392}, 2), ({"M": 128, "N": 128, "K": 24}, 2)],
           arguments=("--target=gfx942",), note="the same with copies through registers"),
    Kernel("sm80_persistent", "test/certify/inputs/folded_persistent.ir", None, [({"M": 264, "N": 136, "K": 200}, 2), ({"M": 264, "N": 136, "K": 40}, 2)],
           note="sm_80, the ring starts anew in each tile"),
    Kernel("sm80_exchange", "test/certify/inputs/folded_exchange.ir", None, [({"M": 130, "K": 840}, 2)],
           note="sm_80, parts exchanged through a barrier of the block"),
    Kernel("sm80_one_slot", "test/certify/inputs/folded_one_slot.ir", None, [({"M": 130, "K": 840}, 2)], note="sm_80, one slot and no ring"),
    Kernel("sm80_workers", "test/certify/inputs/folded_workers.ir", None, [({"M": 130, "N": 456}, 2), ({"M": 66, "N": 64}, 2)],
           note="sm_80, two workers that compute, with barriers between them"),
    Kernel("gfx950_workers", "test/certify/inputs/folded_waves.ir", None, [({"M": 130, "N": 456}, 2), ({"M": 66, "N": 64}, 2)],
           note="the same with counters in shared memory for all barriers"),
    Kernel("gfx942_slots_share_room", "test/run/slots_share_room.tk", None, [({"M": 130, "H": 200}, 2), ({"M": 128, "H": 384}, 2)],
           arguments=("--target=gfx942",), note="two slots in one place, filled in turn"),
    Kernel("gfx942_staging_shares_room", "test/run/staging_shares_room.tk", None, [({"M": 70, "N": 136}, 2), ({"M": 192, "N": 128}, 2)],
           arguments=("--target=gfx942",), note="what is staged lies over the slots that it was computed from"),
    Kernel("spread", "test/spec/spread.tk", "centre_wide", [({"M": 5, "N": 301}, 4), ({"M": 1, "N": 512}, 4)],
           note="instances over the blocks of a cluster, which store into each other's slots"),
    Kernel("own_slots", "test/run/spread_loads.tk", "centre_walk_pairs", [({"M": 13, "N": 201}, 4), ({"M": 2, "N": 256}, 4)],
           note="slots that each instance has for itself, filled by who loads for those of a block"),
    Kernel("drawn", "test/certify/drawn_tiles.tk", None, [({"M": 300, "N": 200, "K": 200}, 2), ({"M": 300, "N": 64, "K": 64}, 1)],
           note="tiles drawn from a counter by the thread that copies"),
    Kernel("drawn_pairs", "test/certify/drawn_by_clusters.tk", None, [({"M": 600, "N": 200, "K": 200}, 4), ({"M": 300, "N": 64, "K": 64}, 2)],
           note="the same for both blocks of a cluster, by the thread that copies in the first"),
    Kernel("sm80_drawn", "test/certify/drawn_tiles.tk", None, [({"M": 300, "N": 200, "K": 200}, 2), ({"M": 300, "N": 64, "K": 64}, 1)],
           arguments=("--target=sm_80",), note="the same by a thread of the first instance"),
    Kernel("sm80_walk", "test/certify/waits_again.tk", "two_pipes_kernel", [({"M": 130, "N": 136, "K": 840}, 2), ({"M": 130, "N": 200, "K": 40}, 1)],
           arguments=("--target=sm_80",), note="two workers that receive from the same pipes, in blocks that walk over tiles"),
    Kernel("columns", "test/run/clusters_along_the_last_axis.tk", "banded_pairs", [({"E": 1, "M": 130, "N": 195, "K": 200}, 4), ({"E": 2, "M": 64, "N": 66, "K": 64}, 2)],
           note="clusters along the last axis, for mutants by hand only", mechanical=False, condition=True),
    Kernel("gemm_pair", "test/run/rows_that_clusters_do_not_copy.tk", "product_pairs", [({"M": 40, "N": 136, "K": 712}, 4), ({"M": 200, "N": 72, "K": 64}, 2)],
           note="shares of which some are missing, for mutants by hand only", mechanical=False),
    Kernel("gemm_by_hand", "test/mutants/inputs/gemm.tk", None, [({"M": 264, "N": 264, "K": 712}, 2), ({"M": 130, "N": 133, "K": 64}, 1)],
           note="for mutants by hand only", mechanical=False),
    Kernel("marks", "test/mutants/inputs/marks.tk", None, [({"M": 48, "N": 512, "P": 80}, 2), ({"M": 16, "N": 256, "P": 72}, 2)],
           note="accesses without guards, for mutants by hand only", mechanical=False, condition=True),
    Kernel("contiguous", "test/mutants/inputs/contiguous.tk", None, [({"M": 5, "N": 1501}, 2), ({"M": 3, "N": 7}, 2)],
           note="aligned blocks of rows that begin anywhere, for mutants by hand only", mechanical=False, condition=True),
]
# Goldens without an operation to mutate: one role, registers only.
WITHOUT = ["examples/copy/copy.tk", "examples/row_softmax/row_softmax.tk"]

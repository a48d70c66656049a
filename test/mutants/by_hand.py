# SPDX-License-Identifier: MIT
"""Mutants by hand: (name, kernel, [(what, by what) ..], field-notes row or "").

Each pair is a regular expression and its replacement; it must match exactly once in the kernel's text, or `n` times where a third item
says so (0: at least once). `in ROLE:` before the expression looks in that role only."""

LOOP = r"in compute: for k = 0 to K step 64"
HANG_ONE = "hang: pipelined loop with one iteration, or none; early-out tile"
HANG_COUNT = "hang: arrival count not equal to participants"
HANG_REGISTERS = "hang: register request over budget"
HANG_CLUSTER = "hang: tiles not divisible by the cluster"
WRONG_WAR = "wrong result: write-after-read across the loop's back edge"
WRONG_REFILL = "wrong result: slot refilled before the last asynchronous read is waited for"
WRONG_WAIT = "wrong result: missing wait for a matrix operation or store"
WRONG_FENCE = "wrong result: missing proxy fence"
WRONG_ATOMIC = "wrong result: a read moved past an atomic"
WRONG_TWO = "wrong result: two products into one accumulator"
WRONG_ONE_OFF = "wrong result: a one-off load before a pipelined loop"
ROWS_FLOOR = "rows never written: grid = floor(N / block)"
ROWS_MULTIPLE = "rows never written: a multiple of the block demanded"
MAP_BIJECTION = "wrong rows read: block map not a bijection"
MAP_COUNTS = "wrong rows read: workers disagree on iteration counts"
MAP_GROUPS = "wrong rows read: group-wide barrier used by two groups at once"
STORES = "duplicate stores: a store issued by every lane"
EDGE_ALIGN = "wrong past the edge: N not a multiple of 8 on a 16-byte path"
EDGE_RAGGED = "wrong past the edge: ragged columns wrap into the next row"
SLOW_WAIT = "slow without a word: wait-for-all defeats a double buffer"

MUTANTS = [
    # ---- bytes
    ("bytes_fewer", "gemm_by_hand", [(r"bytes 32768", "bytes 32752")], ""),
    ("bytes_more", "gemm_by_hand", [(r"bytes 32768", "bytes 32784")], ""),
    ("bytes_of_one_field", "gemm_by_hand", [(r"bytes 32768", "bytes 16384")], WRONG_REFILL),
    ("bytes_of_a_block_of_the_cluster", "two_stage", [(r"expect bs_full\[bs\] bytes 8192", "expect bs_full[bs] bytes 4096")], ""),
    ("bytes_moved_between_pipes", "attention_64", [(r"expect ks_full\[ks\] bytes 8192", "expect ks_full[ks] bytes 8208"),
                                                   (r"expect vs_full\[vs\] bytes 8192", "expect vs_full[vs] bytes 8176")], ""),
    ("bytes_moved_between_turns", "gemm_by_hand", [(r"        expect ab_full\[ab\] bytes 32768\n", "        if k == 64 {\n          expect ab_full[ab] bytes 32784\n        } else {\n          if k == 128 {\n            expect ab_full[ab] bytes 32752\n          } else {\n            expect ab_full[ab] bytes 32768\n          }\n        }\n")], ""),
    # ---- rows that no tensor has
    ("more_rows_are_left_out", "gemm_split", [(r"(load_rows .*), M - m on", r"\1, M - m - 16 on")], ""),
    ("terms_of_the_sum_are_left_out", "gemm_split", [(r"(  map B_map : B) (.*\n)", r"\1 \2  map B_map_rows : B box [16, 64] swizzle 128\n"),
                                                     (r"load_async (.* = B_map at k, n) on", r"load_rows \1, K - k on")], ""),
    ("rows_of_the_tile_before", "gemm_split", [(r"(load_rows .*) at m, k, M - m on", r"\1 at m - 64, k, M - m + 64 on")], ""),
    ("more_rows_of_a_share_are_left_out", "gemm_pair", [(r"M - \(m \+ @cluster::rank.i32\(\) \* 64\), 3", "M - (m + @cluster::rank.i32() * 64) - 16, 3")], ""),
    ("rows_of_a_tile_for_rows_of_a_share", "gemm_pair", [(r"M - \(m \+ @cluster::rank.i32\(\) \* 64\), 3", "M - m, 3")], ""),
    ("shares_change_places", "gemm_pair", [(r"part %ab_0 at @cluster::rank.i32\(\) \* 64", "part %ab_0 at (1 - @cluster::rank.i32()) * 64")], ""),
    ("share_of_the_block_alone", "gemm_pair", [(r"(load_rows_multicast .*), 3 on", r"\1, 1 on")], ""),
    ("bytes_of_the_own_share", "gemm_pair", [(r"bytes 24576", "bytes 16384")], ""),
    ("bytes_of_the_rows_that_exist", "gemm_pair", [(r"bytes 24576", "bytes 10240")], ""),
    ("share_of_the_terms_is_left_out", "gemm_pair", [(r"(  map B_map : B) (.*\n)", r"\1 \2  map B_map_rows : B box [16, 64] swizzle 128\n"),
                                                     (r"load_async (.* = B_map at k, n) on", r"load_rows_multicast \1, K - k, 1 on")], ""),
    # ---- phases and slots
    ("phase_of_the_sender_flipped", "gemm_by_hand", [(r"wait_empty ab_empty", "wait_full ab_empty")], ""),
    ("phase_of_the_receiver_flipped", "gemm_by_hand", [(r"wait_full ab_full", "wait_empty ab_full")], ""),
    ("phase_between_workers_flipped", "relay", [(r"wait_full hs_full", "wait_empty hs_full")], ""),
    ("phase_flipped_from_the_second_lap", "gemm_by_hand", [(r"in compute:         wait_full ab_full\[ab\]\n", "        if k < 256 {\n          wait_full ab_full[ab]\n        } else {\n          wait_empty ab_full[ab]\n        }\n")], ""),
    ("one_slot_less_for_the_sender", "gemm_by_hand", [(r"in load: ring ab slots 4", "ring ab slots 3")], ""),
    ("one_slot_more_for_the_receiver", "gemm_by_hand", [(r"in compute: ring ab slots 4", "ring ab slots 5")], ""),
    ("one_slot_more_for_both", "gemm_by_hand", [(r"ring ab slots 4", "ring ab slots 5", 2)], ""),
    ("one_slot_less_for_both", "gemm_by_hand", [(r"ring ab slots 4", "ring ab slots 3", 2)], ""),
    ("one_barrier_less", "gemm_by_hand", [(r"barrier ab_full x4", "barrier ab_full x3")], ""),
    ("one_tile_less", "gemm_by_hand", [(r"shared ab_0 : bf16\[128, 64\] x4", "shared ab_0 : bf16[128, 64] x3")], ""),
    ("slots_of_two_pipes_overlap", "attention_64", [(r"x6 swizzle 128 offset 65536", "x6 swizzle 128 offset 57344")], ""),
    ("staging_over_the_last_slot", "gemm_by_hand", [(r"offset 131072", "offset 122880")], ""),
    ("reads_the_slot_before", "gemm_by_hand", [(r"view ab_1\[ab\] : smem bf16\[64, 128\]\n(?=        %part)", "view ab_1[ab.previous] : smem bf16[64, 128]\n")], ""),
    # ---- numbers of tiles, between the blocks of a cluster
    ("number_to_one_block", "drawn_pairs", [(r"put_tile_cluster (.*) on .*", r"put_tile \1")], ""),
    ("both_blocks_draw", "drawn_pairs", [(r"(draw_tile .*) if .*", r"\1"), (r"if @cluster::rank.i32\(\) == 0", "if 0 == 0")], MAP_COUNTS),
    ("drawn_beyond_blocks", "drawn_pairs", [(r"past @cluster::count", "past @block::count")], MAP_BIJECTION),
    ("number_given_back_in_its_own_block", "drawn_pairs", [(r"(arrive next_tile_empty.*) in 0", r"\1", 2)], ""),
    ("number_given_back_by_one_block", "drawn_pairs", [(r"next_tile_empty x4 arrivals 18", "next_tile_empty x4 arrivals 9")], HANG_COUNT),
    ("number_given_back_in_the_other_block", "drawn_pairs", [(r"(arrive next_tile_empty.*) in 0", r"\1 in 1", 2)], ""),
    # ---- arrivals
    ("one_arrival_too_few", "gemm_by_hand", [(r"x4 arrivals 8", "x4 arrivals 7")], HANG_COUNT),
    ("one_arrival_too_many", "gemm_by_hand", [(r"x4 arrivals 8", "x4 arrivals 9")], HANG_COUNT),
    ("arrivals_of_one_worker", "gemm_by_hand", [(r"x4 arrivals 8", "x4 arrivals 4")], WRONG_REFILL),
    ("full_wants_two_arrivals", "gemm_by_hand", [(r"ab_full x4 arrivals 1", "ab_full x4 arrivals 2")], HANG_COUNT),
    ("arrival_by_a_thread", "relay", [(r"arrive hs_full\[hs\] by warp", "arrive hs_full[hs] by thread")], HANG_COUNT),
    ("cluster_told_locally", "two_stage", [(r"arrive bs_empty\[bs\] by cluster", "arrive bs_empty[bs] by warp")], HANG_CLUSTER),
    ("shares_of_one_block_only", "gemm_split", [(r"acc_shares_ready arrivals 16", "acc_shares_ready arrivals 4")], HANG_COUNT),
    # ---- releases and waits
    ("releases_the_slot_in_use", "gemm_by_hand", [(r"arrive ab_empty\[ab.previous\] by warp\n        }", "arrive ab_empty[ab] by warp\n        }")], WRONG_REFILL),
    ("releases_from_the_first_step", "gemm_by_hand", [(r"if k > 0 {", "if k >= 0 {")], HANG_ONE),
    ("releases_a_step_late", "gemm_by_hand", [(r"if k > 0 {", "if k > 64 {")], HANG_ONE),
    ("releases_what_was_never_taken", "gemm_by_hand", [(r"if K > 0 {", "if K >= 0 {")], HANG_ONE),
    ("releases_the_slot_in_use_in_the_last_lap", "gemm_by_hand", [(r"          arrive ab_empty\[ab.previous\] by warp\n(?=        }\n        advance)", "          if k + 64 < K {\n            arrive ab_empty[ab.previous] by warp\n          } else {\n            arrive ab_empty[ab] by warp\n          }\n")], WRONG_REFILL),
    ("releases_in_front_of_the_wait", "gemm_by_hand", [(r"(        mma_wait 1\n)(        if k > 0 {\n.*\n        }\n)", r"\2\1")], WRONG_REFILL),
    ("two_products_in_flight", "gemm_by_hand", [(r"mma_wait 1\n", "mma_wait 2\n")], WRONG_REFILL),
    ("last_product_in_flight", "gemm_by_hand", [(r"mma_wait 0 %acc", "mma_wait 1 %acc")], WRONG_WAIT),
    ("waits_for_all_products", "gemm_by_hand", [(r"mma_wait 1\n", "mma_wait 0\n")], SLOW_WAIT),
    ("one_store_more_unread", "gemm_by_hand", [(r"wait_stores read 3", "wait_stores read 4")], WRONG_WAR),
    ("stores_of_the_end_unread", "gemm_by_hand", [(r"wait_stores read 0", "wait_stores read 1")], WRONG_WAIT),
    ("one_chunk_for_two", "gemm_by_hand", [(r"C_stage index C_chunk :", "C_stage index C_chunk % 3 :")], WRONG_WAR),
    ("staging_of_one_worker_for_both", "gemm_by_hand", [(r"x4 instances 2 swizzle", "x4 swizzle")], ""),
    # ---- proxies
    ("fence_behind_the_meeting", "gemm_no_pipe", [(r"(by warpgroup\n)      fence_async\n      sync_role warpgroup\n(      mma_fence)", r"\1      sync_role warpgroup\n      fence_async\n\2")], WRONG_FENCE),
    ("fence_before_the_stores", "gemm_by_hand", [(r"store_shared %staged = %rounded_chunk\n        fence_async", "fence_async\n        store_shared %staged = %rounded_chunk")], WRONG_FENCE),
    ("fence_by_one_thread", "gemm_by_hand", [(r"        fence_async\n", "        if_elected warpgroup {\n          fence_async\n        }\n")], WRONG_FENCE),
    # ---- accumulators
    ("two_products_into_one_accumulator", "attention_64", [(r"mma %product, %x, %k_1 set\n", "mma %product, %x, %k_1 set\n      mma %product, %x, %k_1 add\n")], WRONG_TWO),
    ("product_into_the_sum_in_flight", "attention_64", [(r"mma %o, %rounded_operand, %v add", "mma %o, %rounded_operand, %v set")], WRONG_TWO),
    ("accumulator_read_in_flight", "relay", [(r"(    mma_wait 0 %product\n)(    %rounded_1 = .*\n)", r"\2\1")], WRONG_WAIT),
    ("operand_changed_in_flight", "attention_64", [(r"(      assign %top = %next\n)(      mma_wait 0 %o, %rounded_operand\n)", r"      %other = convert %s : reg bf16[64, 64]\n      assign %rounded_operand = %other\n\1\2")], WRONG_WAIT),
    ("operand_written_before_the_wait", "attention_64", [(r"(      mma_wait 0 %o, %rounded_operand\n)((?:.*\n){5})(      %rounded = .*\n.*\n)(?=    }\n)", r"\3\1\2")], WRONG_WAIT),
    ("first_iteration_of_two", "attention_64", [(r"if S > 0 {(?=\n.*The first)", "if S > 64 {")], ""),
    ("last_product_of_two_iterations", "attention_64", [(r"if S > 0 {(?=\n.*The last)", "if S > 64 {")], ""),
    ("first_iteration_twice", "attention_64", [(r"for j = 64 to S", "for j = 0 to S")], ""),
    ("second_iteration_left_out", "attention_64", [(r"for j = 64 to S", "for j = 128 to S")], ""),
    ("operand_not_named_by_the_fence", "attention_64", [(r"mma_fence %o, %rounded_operand(?=\n.*%v add)", "mma_fence %o")], WRONG_WAIT),
    ("sum_not_named_by_the_fence", "attention_64", [(r"mma_fence %o, %rounded_operand(?=\n.*%v add)", "mma_fence %rounded_operand")], WRONG_WAIT),
    # ---- who executes
    ("one_thread_of_each_warp", "gemm_by_hand", [(r"if_elected warpgroup", "if_elected warp")], STORES),
    ("staging_written_by_one_thread", "gemm_by_hand", [(r"(        store_shared .*\n)", r"        if_elected warpgroup {\n\1        }\n")], ""),
    ("staging_read_by_one_thread", "gemm_by_hand", [(r"(          copy_to_global .*\n)", r"          if_elected warpgroup {\n\1          }\n")], ""),
    ("ring_turned_by_one_thread", "gemm_by_hand", [(r"in compute: (        advance ab\n)", r"        if_elected warpgroup {\n\1        }\n")], HANG_ONE),
    ("copied_by_every_warp", "gemm_no_pipe", [(r"by warpgroup\n", "by warp\n", 2)], ""),
    ("stored_by_one_thread", "in_turn", [(r"(      store Y.*\n)", r"      if_elected warpgroup {\n\1      }\n")], ""),
    ("warpgroup_without_a_role", "gemm_no_pipe", [(r"threads 128", "threads 256")], HANG_COUNT),
    # ---- one-off loads, orders, nests
    ("one_off_load_released_by_half", "two_stage", [(r"arrive xs_empty\[xs\] by warp", "arrive xs_empty[xs] by thread")], WRONG_ONE_OFF),
    ("one_off_load_read_unwaited", "attention_64", [(r"    wait_full q_full\[q\]\n", "")], WRONG_ONE_OFF),
    ("held_slot_released_in_the_loop", "two_stage", [(r"(        mma_wait 0 %s\n)", r"\1        arrive xs_empty[xs] by warp\n"), (r"      arrive xs_empty\[xs\] by warp\n(      advance xs\n    }\n    comment .*\n    wait_stores)", r"\1")], WRONG_ONE_OFF),
    ("first_wrong_at_twice_the_slots_and_three", "gemm_by_hand", [(r"if k > 0 {", "if 0 < k and k != 448 {")], WRONG_REFILL),
    ("needs_two_nested_loops", "gemm_by_hand", [(r"if K > 0 {", "if K > 0 and tile < @block::count.i32() {")], HANG_ONE),
    ("needs_two_nested_loops_and_laps", "two_stage", [(r"      arrive xs_empty\[xs\] by warp\n", "      if tile < @cluster::count.i32() {\n        arrive xs_empty[xs] by warp\n      }\n")], HANG_ONE),
    ("early_out_of_one_worker", "relay", [(r"(    let m = .* \* 64\n)(    wait_full vs_full\[vs\])", r"\1    let stop = m\n\2"), (r"    wait_full hs_full\[hs\]\n", "    if m > 0 {\n      wait_full hs_full[hs]\n    }\n")], HANG_ONE),
    # ---- registers, named barriers
    ("register_sum_over", "gemm_by_hand", [(r"registers 232", "registers 240")], HANG_REGISTERS),
    ("register_sum_over_by_the_sender", "gemm_by_hand", [(r"copy_thread registers 40", "copy_thread registers 56")], HANG_REGISTERS),
    ("registers_not_in_eights", "gemm_by_hand", [(r"registers 232", "registers 228")], HANG_REGISTERS),
    ("turn_barrier_of_the_other_worker", "in_turn", [(r"named_sync turn \+ 8", "named_sync 1 - turn + 8")], MAP_GROUPS),
    ("turn_barriers_reused", "in_turn", [(r"named_sync turn \+ 8 threads", "named_sync 8 threads"), (r"named_arrive \(turn \+ 1\) % 2 \+ 8", "named_arrive 8")], MAP_GROUPS),
    ("turn_barrier_is_the_workers_own", "in_turn", [(r"named_sync turn \+ 8", "named_sync turn + 2"), (r"named_arrive \(turn \+ 1\) % 2 \+ 8", "named_arrive (turn + 1) % 2 + 2"), (r"named_arrive 8", "named_arrive 2")], MAP_GROUPS),
    ("turn_barrier_beyond_the_hardware", "in_turn", [(r"turn \+ 8 threads", "turn + 15 threads"), (r"2 \+ 8 threads", "2 + 15 threads"), (r"named_arrive 8", "named_arrive 15")], MAP_GROUPS),
    ("turn_counts_one_warpgroup", "in_turn", [(r"named_sync turn \+ 8 threads 256", "named_sync turn + 8 threads 128")], HANG_COUNT),
    ("turn_given_to_both", "in_turn", [(r"if turn == 1 {", "if turn >= 0 {")], MAP_GROUPS),
    ("first_turn_given_to_oneself", "in_turn", [(r"if turn == 1 {", "if turn == 0 {")], MAP_GROUPS),
    ("others_slots_not_passed", "in_turn", [(r"(comment \"Another instance.*\n +)advance p\n", r"\1advance p by 0\n")], MAP_COUNTS),
    ("others_slots_passed_twice", "in_turn", [(r"(comment \"Another instance.*\n +)advance p\n", r"\1advance p by 2\n")], MAP_COUNTS),
    ("every_tile_taken_by_the_first", "in_turn", [(r"if whose == turn {", "if whose == 0 {")], MAP_COUNTS),
    ("turns_of_one_more", "in_turn", [(r"turn whose of 2", "turn whose of 3")], MAP_COUNTS),
    # ---- the grid, iteration counts
    ("map_halves_rows", "gemm_by_hand", [(r"let m = m_block \* 128", "let m = m_block * 64", 2)], MAP_BIJECTION),
    ("map_of_one_worker", "gemm_by_hand", [(r"in compute: let n = n_block \* 128", "let n = (n_blocks - 1 - n_block) * 128")], MAP_BIJECTION),
    ("order_of_one_worker", "gemm_by_hand", [(r"in compute: m_blocks, n_blocks group 8", "m_blocks, n_blocks group 4")], MAP_COUNTS),
    ("map_takes_columns_for_rows", "gemm_by_hand", [(r'tile_position "m_block n_block"', 'tile_position "n_block m_block"', 2)], MAP_BIJECTION),
    ("map_repeats_a_block", "gemm_decode", [(r"let m_block = tile / n_blocks", "let m_block = tile / (n_blocks + 1)", 2)], MAP_BIJECTION),
    ("stride_of_one_worker", "gemm_by_hand", [(r"in compute: step @block::count.i32\(\) {", "step @block::count.i32() * 2 {")], MAP_COUNTS),
    ("stride_of_all", "gemm_by_hand", [(r"step @block::count.i32\(\) {", "step @block::count.i32() * 2 {", 2)], ROWS_FLOOR),
    ("last_tile_left_out", "gemm_by_hand", [(r"to tiles step", "to tiles - 1 step", 2)], ROWS_FLOOR),
    ("grid_rounds_down", "gemm_by_hand", [(r"launch m_blocks = cdiv\(M, 128\)", "launch m_blocks = M / 128")], ROWS_FLOOR),
    ("one_step_less_for_one_worker", "gemm_by_hand", [(r"in compute: for k = 0 to K step", "for k = 64 to K step")], MAP_COUNTS),
    ("one_step_more_for_one_worker", "gemm_by_hand", [(r"in load: for k = 0 to K step", "for k = 0 to K + 64 step")], MAP_COUNTS),
    ("whole_steps_only", "gemm_by_hand", [(r"for k = 0 to K step", "for k = 0 to K / 64 * 64 step", 2)], ROWS_MULTIPLE),
    ("whole_steps_only_for_one_worker", "gemm_by_hand", [(r"in compute: for k = 0 to K step", "for k = 0 to K / 64 * 64 step")], MAP_COUNTS),
    ("shares_overlap", "gemm_split", [(r"in load: (let split_end = split_begin \+ split_share)", r"\1 + 64")], MAP_COUNTS),
    ("cluster_of_columns_rounded_down", "columns", [(r"cdiv\(n_blocks, 2\)", "n_blocks / 2")], HANG_CLUSTER),
    ("cluster_of_columns_as_rows", "columns", [(r"\n  cluster_of_columns\n", "\n")], MAP_BIJECTION),
    ("cluster_pairs_rounded_down", "two_stage", [(r"cdiv\(m_blocks, 2\)", "m_blocks / 2")], HANG_CLUSTER),
    # ---- edges, stores
    ("engine_whatever_the_alignment", "gemm_by_hand", [(r"if C_map_usable {", "if 0 < 1 {")], EDGE_ALIGN),
    ("stored_by_every_thread", "gemm_by_hand", [(r"          if_elected warpgroup {\n            store_async (.*)\n            commit_stores\n          }\n", r"          store_async \1\n          commit_stores\n")], STORES),
    ("stored_twice", "gemm_by_hand", [(r"(            store_async .*\n)", r"\1\1")], STORES),
    ("stored_by_both_workers", "gemm_by_hand", [(r"store_async C_map at m \+ w \* 64", "store_async C_map at m")], STORES),
    ("stored_by_both_workers_under_a_condition", "attention_64", [(r"i \+ w \* 64, O_chunk", "i, O_chunk"), (r"O\[h, i \+ w \* 64", "O[h, i"), (r"      if O_map_usable {\n((?:.*\n){7})", r"      if S > 0 {\n      if O_map_usable {\n\1      }\n")], STORES),
    ("tiles_overlap", "gemm_no_pipe", [(r"grid m = 0 to M by 64", "grid m = 0 to M by 32"), (r"cdiv\(M, 64\)", "cdiv(M, 32)"), (r"let m = m_block \* 64", "let m = m_block * 32")], MAP_BIJECTION),
    ("tiles_stored_at_half_their_row", "gemm_no_pipe", [(r"C_map at m,", "C_map at m / 2,"), (r"C\[m :", "C[m / 2 :")], MAP_BIJECTION),
    ("tiles_stored_in_one_place", "gemm_no_pipe", [(r"C_map at m,", "C_map at m % 64,"), (r"C\[m :", "C[m % 64 :")], MAP_BIJECTION),
    ("chunks_overlap", "gemm_by_hand", [(r"(store_async C_map at m \+ w \* 64, n \+ C_chunk) \* 32", r"\1 * 16")], STORES),
    ("ragged_rows_of_the_fallback", "gemm_by_hand", [(r"copy_to_global C\[m \+ w \* 64 : 64", "copy_to_global C[m + w * 64 - 64 : 64")], EDGE_RAGGED),
    ("ragged_rows_of_the_mask", "attention_64", [(r"binary lt (%\w+), \(i32\(S\)\)", r"binary le \1, (i32(S))", 2)], EDGE_RAGGED),
    # ---- layouts
    ("swizzle_of_the_writer", "gemm_by_hand", [(r"map A_map : A box \[128, 64\] swizzle 128", "map A_map : A box [128, 64] swizzle 64")], ""),
    ("swizzle_of_the_staging", "gemm_by_hand", [(r"(shared C_stage .*) swizzle 64", r"\1 swizzle 32")], ""),
    ("box_of_half_the_columns", "gemm_by_hand", [(r"map B_map : B box \[64, 64\]", "map B_map : B box [64, 32]")], ""),
    ("box_of_twice_the_rows", "gemm_split", [(r"map B_map : B box \[64, 64\]", "map B_map : B box [128, 64]")], ""),
    ("box_of_half_the_rows", "in_turn", [(r"map X_map : X box \[64, 64\]", "map X_map : X box [32, 64]")], ""),
    ("part_of_the_other_worker", "gemm_by_hand", [(r"part %a at w \* 64, 0", "part %a at 64 - w * 64, 0")], ""),
    # ---- clusters
    ("multicast_to_oneself", "two_stage", [(r"\* 32, n, 3 on", "* 32, n, 1 on")], HANG_CLUSTER),
    ("multicast_beyond_the_cluster", "two_stage", [(r"\* 32, n, 3 on", "* 32, n, 7 on")], HANG_CLUSTER),
    ("shares_published_to_one_block", "gemm_split", [(r"(split_publish .*) ways 4", r"\1 ways 1")], HANG_CLUSTER),
    ("shares_of_one_block_collected", "gemm_split", [(r"(split_collect .*) ways 4", r"\1 ways 1")], ""),
    ("multicast_of_one_half", "two_stage", [(r"(B_map_share at) @cluster::rank.i32\(\) \* 32", r"\1 0")], ""),
    # ---- instances over the blocks of a cluster
    ("store_before_blocks_have_begun", "spread", [(r"    cluster_wait\n((?:.*\n){0,2}?)(    store_cluster .*\n)", r"\1\2    cluster_wait\n")], HANG_CLUSTER),
    ("bytes_of_a_block_announced_twice", "spread", [(r"bytes 16", "bytes 32")], HANG_CLUSTER),
    ("bytes_of_the_own_block", "spread", [(r"bytes 16", "bytes 4")], ""),
    ("one_announcement_is_enough", "spread", [(r"seen_full arrivals 2", "seen_full arrivals 1")], ""),
    ("numbers_of_the_own_block", "spread", [(r"let w = .*", "let w = w_here")], ""),
    ("own_slots_of_another_read", "own_slots", [(r"      (%row_1 = view row_slot\[\"row\[)w_here", r"      let other = 1 - w_here\n      \1other")], ""),
    ("own_slots_of_another_waited_for", "own_slots", [(r"      (wait_full row_full\[\"row\[)w_here", r"      let other = 1 - w_here\n      \1other")], ""),
    ("own_slots_of_another_given_back", "own_slots", [(r"      (arrive row_empty\[\"row\[)w_here", r"      let other = 1 - w_here\n      \1other")], ""),
    ("own_slots_filled_for_another", "own_slots", [(r"        (%row_slot = view row_slot\[\"row\[)u_here", r"        let other = 1 - u_here\n        \1other")], ""),
    ("own_slots_full_for_another", "own_slots", [(r"        (load_async .*\[\"row\[)u_here", r"        let other = 1 - u_here\n        \1other")], ""),
    ("own_slots_for_the_first_alone", "own_slots", [(r"unroll u_here times 2", "unroll u_here times 1")], ""),
    ("own_slots_of_each_turn_by_themselves", "own_slots", [(r"(        load_async .*\n)      }\n      advance row", r"\1        advance row\n      }")], ""),
    ("own_slots_of_the_first_block", "own_slots", [(r"let u = .*", "let u = u_here")], ""),
    ("own_slots_without_sets", "own_slots", [(r"row_slot : bf16\[2, 64\] x3 instances 2", "row_slot : bf16[2, 64] x3 instances 1")], ""),
    ("read_before_all_blocks_sent", "spread", [(r"    wait_full seen_full\[seen\]\n", "")], ""),
    # ---- copies by all threads
    ("prologue_a_block_shorter", "sm80_gemm", [(r"unroll stage times 3", "unroll stage times 2")], ""),
    ("prologue_a_block_longer", "sm80_gemm", [(r"unroll stage times 3", "unroll stage times 4")], ""),
    ("prologue_from_the_second_block", "sm80_gemm", [(r"A\[m : 64, stage \* 64", "A[m : 64, stage * 64 + 64"), (r"B\[stage \* 64", "B[stage * 64 + 64")], MAP_COUNTS),
    ("prologue_in_the_slots_behind", "sm80_gemm", [(r"\[ab\+stage\]", "[ab.previous]", 2)], ""),
    ("copied_a_block_too_far_ahead", "sm80_gemm", [(r"k \+ 192", "k + 256", 2), (r"(pieces A\[m : 64,) 192", r"\1 256"), (r"pieces B\[192", "pieces B[256")], MAP_COUNTS),
    ("copied_for_this_step", "sm80_gemm", [(r"k \+ 192", "k", 2), (r"(pieces A\[m : 64,) 192", r"\1 0"), (r"pieces B\[192", "pieces B[0")], MAP_COUNTS),
    ("copied_by_one_thread", "sm80_gemm", [(r"(      copy_async %ab_1_2 .*\n)", r"      if_elected warpgroup {\n\1      }\n")], ""),
    ("waited_for_by_one_thread", "sm80_gemm", [(r"(      wait_copies 1\n)", r"      if_elected warpgroup {\n\1      }\n")], WRONG_WAIT),
    ("groups_of_one_field", "sm80_gemm", [(r"(      %ab_1_2 = .*\n      copy_async .*\n)(      move_pieces .*\n      commit_copies\n)", r"\2\1")], WRONG_WAIT),
    ("one_slot_more_than_there_are", "sm80_gemm", [(r"ring ab slots 3", "ring ab slots 4")], ""),
    ("reads_the_slot_filled_ahead", "sm80_gemm", [(r"%b = view ab_1\[ab\]", "%b = view ab_1[ab+1]")], ""),
    ("second_slot_of_a_turn_from_the_first_block", "sm80_several_products", [(r"pieces B\[96", "pieces B[64"), (r"B\[k \+ 96", "B[k + 64")], ""),
    ("prologue_ends_with_the_turn", "sm80_several_products", [(r"    %bd_0_3 = .*\n(?:.*\n){3}    commit_copies\n", "")], ""),
    ("only_slot_filled_for_this_turn", "sm80_only_slots", [(r"U\[0 : 128, h \+ 128", "U[0 : 128, h"), (r"pieces U\[0 : 128, 128", "pieces U[0 : 128, 0")], ""),
    ("pieces_of_the_block_before", "sm80_gemm", [(r"pieces B\[192", "pieces B[128")], MAP_COUNTS),
    ("pieces_moved_by_another_step", "sm80_gemm", [(r"move_pieces %A_pieces by 0, 64", "move_pieces %A_pieces by 0, 128")], MAP_COUNTS),
    ("pieces_of_rows_for_columns", "sm80_gemm", [(r"move_pieces %B_pieces by 64, 0", "move_pieces %B_pieces by 0, 64")], MAP_COUNTS),
    ("operand_not_loaded_anew", "sm80_gemm", [(r"      assign %a_0_held = %a_0_next\n", "")], ""),
    ("operands_of_the_slot_before", "sm80_gemm", [(r"(      advance ab\n)((?:.*\n)*?      assign %b_0_held = .*\n)", r"\2\1")], ""),
    ("operand_of_another_step", "sm80_gemm", [(r"(%a_part_next = part %a_next at) 0, 0", r"\1 0, 16")], ""),
    ("operands_before_the_meeting", "sm80_gemm", [(r"(      wait_copies 1\n      sync_block\n)((?:.*\n)*?      assign %b_0_held = .*\n)", r"\2\1")], WRONG_WAIT),
    ("barrier_of_the_instance", "sm80_attention_64", [(r"      sync_block\n", "      sync_role warpgroup\n", 2)], MAP_GROUPS),
    ("barrier_of_one_instance", "sm80_attention_64", [(r"(      wait_copies 5\n)      sync_block\n", r"\1      if w < 1 {\n        sync_block\n      }\n", 2)], HANG_COUNT),
    ("copied_by_one_instance", "sm80_attention_64", [(r"(      copy_async %ks_slot_2 .*\n)", r"      if w < 1 {\n\1      }\n")], ""),
    ("fetched_before_the_loop_once_more", "gfx942_gemm", [(r"(%ab_0_second = fetch A\[m : 64,) 64", r"\1 0")], MAP_COUNTS),
    ("fetched_a_block_too_far_ahead", "gfx942_gemm", [(r"(%ab_1_fetched = fetch B\[k \+) 128", r"\1 192")], MAP_COUNTS),
    ("not_fetched_anew", "gfx942_gemm", [(r"      assign %ab_1_next = %ab_1_fetched\n", "")], MAP_COUNTS),
    ("put_down_where_it_is_read", "gfx942_gemm", [(r"%ab_0_2 = view ab_0\[ab.previous\]", "%ab_0_2 = view ab_0[ab]")], ""),
    ("turned_by_one_worker", "gfx942_gemm", [(r"(%ab_1_fetched = fetch .*) as transposed", r"\1")], ""),
    ("shares_collected_before_they_are_published", "gemm_split", [(r"(    split_wait acc_shares_ready\n)(    %acc_sum = split_collect .*\n)", r"\2\1")], WRONG_ATOMIC),
    # ---- what is known of accesses
    ("rows_of_which_some_may_be_missing", "marks", [(r"M % 16 == 0", "M % 8 == 0")], ROWS_MULTIPLE),
    ("columns_of_which_some_may_be_missing", "marks", [(r"N % 256 == 0", "N % 128 == 0")], EDGE_RAGGED),
    ("columns_beside_the_instances", "marks", [(r"read X\[m : 16 exists, n \+ w \* 128", "read X[m : 16 exists, n + w * 128 + 8")], EDGE_RAGGED),
    ("columns_of_twice_as_many_instances", "marks", [(r"(store Y\[.*) n \+ w \* 128 :", r"\1 n + w * 256 :")], EDGE_RAGGED),
    ("columns_before_the_first", "marks", [(r"read X\[m : 16 exists, n \+ w \* 128", "read X[m : 16 exists, n + w * 128 - 8")], EDGE_RAGGED),
    ("rows_of_the_next_block", "marks", [(r"read X\[m : 16", "read X[m + 16 : 16")], EDGE_RAGGED),
    ("rows_of_the_next_block_stored", "marks", [(r"store S\[m : 16", "store S[m + 16 : 16")], EDGE_RAGGED),
    ("a_block_behind_the_loop", "marks", [(r"for n = 0 to N step", "for n = 0 to N + 256 step")], EDGE_RAGGED),
    ("structures_behind_the_last", "marks", [(r"P >= 72", "P >= 71")], EDGE_RAGGED),
    ("structures_of_any_number", "marks", [(r" and P >= 72", "")], EDGE_RAGGED),
    ("structures_between_vectors", "marks", [(r"Z\[m : 16 exists, 8 :", "Z[m : 16 exists, 6 :")], EDGE_ALIGN),
    ("columns_between_vectors", "marks", [(r"read X\[m : 16 exists, n \+ w \* 128", "read X[m : 16 exists, n + w * 124")], EDGE_ALIGN),
    ("vector_between_vectors", "marks", [(r"read g\[n \+ w \* 128", "read g[n + w * 127")], EDGE_ALIGN),
    ("steps_between_vectors", "marks", [(r"for n = 0 to N step 256", "for n = 0 to N step 252"), (r"N % 256 == 0", "N % 252 == 0")], EDGE_ALIGN),
    ("aligned_for_any_rows", "marks", [(r" and aligned\n", "\n")], EDGE_ALIGN),
    ("aligned_for_any_gaps", "contiguous", [(r"when contiguous\n", "when N >= 0\n")], EDGE_ALIGN),
    ("rows_between_vectors", "contiguous", [(r"(let m = .*\n +let skew = m \* N) % 8", r"\1 % 4")], EDGE_ALIGN),
    ("blocks_between_vectors", "contiguous", [(r"to N step 1024", "to N step 1020")], EDGE_ALIGN),
    ("blocks_behind_a_vector", "contiguous", [(r"read X\[m : 1 exists, n :", "read X[m : 1 exists, n + 4 :")], EDGE_ALIGN),
    ("blocks_of_another_row", "contiguous", [(r"read X\[m : 1 exists,", "read X[m / 2 : 1 exists,")], EDGE_ALIGN),
    ("blocks_of_a_cluster_behind_the_last", "marks", [(r"\n  level schedule", "\n  cluster 2\n  level schedule")], HANG_CLUSTER),
]

# Rows of field-notes section 4 that no schedule can get wrong, and what stands for them.
ELSEWHERE = {
    "garbage: non-contiguous input taken as contiguous": "the launcher's: strides, offsets and padding in `tkc check` and tools/gpu-test",
    "slow without a word: register spills": "ptxas: tools/gpu-test refuses a spill",
    "slow without a word: bank conflicts": "test/certify/bank_conflict.tk, test/sim/conflicts.test",
    "slow without a word: 132 SMs hard-coded": "`--sms` of `tkc run` and `tkc check`: mutants run with 1, 2 and 4",
    "unreadable: template stacks, unknown locations, asserts that vanish": "tools/check_diagnostics",
}

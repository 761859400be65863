//! What every backend must do (feature `testing`). [`state_suite`](crate::state_suite) makes tests of it.
//!
//! | file | concept |
//! |---|---|
//! | `room.rs` | stores of a test, and requests in few words |
//! | `commits.rs` | effects of commits, and commits without effect |
//! | `scans.rs` | pages, and consistency with a state |
//! | `model.rs` | random requests, against a model |
//! | `transfer.rs` | exports and imports |

#![allow(missing_docs, reason = "the names of behaviours say it")]

pub mod commits;
pub mod model;
mod room;
pub mod scans;
pub mod transfer;

pub use room::*;

/// Makes a test of each behaviour; the expression is a function that makes a [`Room`](crate::testing::Room).
#[macro_export]
macro_rules! state_suite {
    ($room:expr) => {
        #[test]
        fn what_is_committed_is_read() {
            $crate::testing::commits::what_is_committed_is_read(&$room);
        }
        #[test]
        fn expectations_decide_over_the_whole_commit() {
            $crate::testing::commits::expectations_decide_over_the_whole_commit(&$room);
        }
        #[test]
        fn a_conflict_names_all_of_its_keys() {
            $crate::testing::commits::a_conflict_names_all_of_its_keys(&$room);
        }
        #[test]
        fn checks_alone_take_no_version_and_make_no_file() {
            $crate::testing::commits::checks_alone_take_no_version_and_make_no_file(&$room);
        }
        #[test]
        fn spaces_share_nothing_but_the_counter() {
            $crate::testing::commits::spaces_share_nothing_but_the_counter(&$room);
        }
        #[test]
        fn each_change_after_a_mark_is_found_once() {
            $crate::testing::scans::each_change_after_a_mark_is_found_once(&$room);
        }
        #[test]
        fn versions_never_repeat() {
            $crate::testing::commits::versions_never_repeat(&$room);
        }
        #[test]
        fn the_quota_counts_keys_values_and_an_overhead() {
            $crate::testing::commits::the_quota_counts_keys_values_and_an_overhead(&$room);
        }
        #[test]
        fn above_a_lowered_quota_shrinking_is_allowed() {
            $crate::testing::commits::above_a_lowered_quota_shrinking_is_allowed(&$room);
        }
        #[test]
        fn what_has_expired_is_gone_for_everyone() {
            $crate::testing::commits::what_has_expired_is_gone_for_everyone(&$room);
        }
        #[test]
        fn a_put_whose_moment_has_passed_leaves_nothing() {
            $crate::testing::commits::a_put_whose_moment_has_passed_leaves_nothing(&$room);
        }
        #[test]
        fn requests_that_cannot_be_served_say_why() {
            $crate::testing::commits::requests_that_cannot_be_served_say_why(&$room);
        }
        #[test]
        fn keys_come_in_the_order_of_their_bytes() {
            $crate::testing::scans::keys_come_in_the_order_of_their_bytes(&$room);
        }
        #[test]
        fn prefix_after_and_limit_choose_the_page() {
            $crate::testing::scans::prefix_after_and_limit_choose_the_page(&$room);
        }
        #[test]
        fn a_page_has_an_end_in_entries_and_in_bytes_but_one_entry_in_any_case() {
            $crate::testing::scans::a_page_has_an_end_in_entries_and_in_bytes_but_one_entry_in_any_case(
                &$room,
            );
        }
        #[test]
        fn a_scan_in_pages_is_of_one_state_or_moved() {
            $crate::testing::scans::a_scan_in_pages_is_of_one_state_or_moved(&$room);
        }
        #[test]
        fn revisions_that_never_were_are_moved() {
            $crate::testing::scans::revisions_that_never_were_are_moved(&$room);
        }
        #[test]
        fn a_store_does_what_the_model_does() {
            $crate::testing::model::a_store_does_what_the_model_does(&$room);
        }
        #[test]
        fn an_export_is_a_line_for_each_entry() {
            $crate::testing::transfer::an_export_is_a_line_for_each_entry(&$room);
        }
        #[test]
        fn what_is_exported_comes_back_elsewhere() {
            $crate::testing::transfer::what_is_exported_comes_back_elsewhere(&$room);
        }
        #[test]
        fn an_import_replaces_all_or_stands_beside() {
            $crate::testing::transfer::an_import_replaces_all_or_stands_beside(&$room);
        }
        #[test]
        fn what_is_wrong_is_told_with_its_line_and_changes_nothing() {
            $crate::testing::transfer::what_is_wrong_is_told_with_its_line_and_changes_nothing(&$room);
        }
        #[test]
        fn a_slow_import_holds_up_nobody() {
            $crate::testing::transfer::a_slow_import_holds_up_nobody(&$room);
        }
        #[test]
        fn an_export_is_of_one_state() {
            $crate::testing::transfer::an_export_is_of_one_state(&$room);
        }
    };
}

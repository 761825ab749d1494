//! Pages and folders of the workspace: each guide is shown and run, each folder says what it is
//! for.

mod guides;
mod signs;

//! Development only: edge-case inputs and loops over levels and threads.

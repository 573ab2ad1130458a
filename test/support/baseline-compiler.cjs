/*
 * Loaded into processes that tests start: V8 compiles PGlite's code once, and does not optimise it. That takes a third of a
 * start, and pays only in a process that lives for minutes.
 */
require('node:v8').setFlagsFromString('--liftoff-only');

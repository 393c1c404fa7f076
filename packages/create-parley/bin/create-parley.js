#!/usr/bin/env node
// A file of its own, so that a checkout whose `dist` is not built yet can be linked.
import "../dist/create-parley.js";

export { findOrMakeAgent } from './agents.ts';
export { type ApiAccess, type RunnerConnection } from './api-access.ts';
export { parseRemote } from './forge/remote.ts';

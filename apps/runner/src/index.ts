export { findOrMakeAgent } from './agents.ts';
export { type ApiAccess, type Connection } from './api-access.ts';

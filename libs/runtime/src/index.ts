export {
  ApiError,
  badRequest,
  forbidden,
  named,
  notFound,
  nothingAt,
  parseWith,
  refusal,
  unauthorized,
  unavailable,
} from '@muster/registry';
export { conclude } from './conclude.ts';
export { changedFields, changedGit, cleared } from './changes.ts';
export { toApiError, validationHoles } from './errors.ts';
export { asSystem, type PerformAsSystem } from './as-system.ts';
export { type OperationResponse, type OperationCall, execute } from './execute.ts';
export {
  type AllHandlers,
  type Awaited,
  byOperation,
  type Caller,
  type HandlerEnvironment,
  handle,
  type Handler,
  type HandlerContext,
  type HandlersOf,
  type EventReaction,
} from './handle.ts';
export { canonicalGit, canonicalPull, canonicalUrlOf } from './pull-addresses.ts';
export { isWellFormedSession, newSessionSecret, sessionTokenHash } from './sessions.ts';
export {
  type AroundLookUp,
  type AuthenticatedToken,
  type Authenticator,
  createAuthenticator,
  hashToken,
  isWellFormedToken,
  newTokenSecret,
  tokenPrefixOf,
} from './tokens.ts';
export { atWorkFor, requireProject, requireStory, requireTeam, visibleTo } from './visible.ts';

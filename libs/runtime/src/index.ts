export {
  ApiError,
  badRequest,
  forbidden,
  withPathOnNotFound,
  notFound,
  pathNotFound,
  parseWith,
  refusal,
  unauthorized,
  serviceUnavailable,
} from '@muster/contract';
export { mayReadAtStandby } from './at-standby.ts';
export { runReactionsAndWriteTrail } from './conclude.ts';
export { changedFields, mergeReportedGit, replaceNull } from './changes.ts';
export { toApiError, valuesMissedByValidation } from './errors.ts';
export { runAsSystem, type PerformAsSystem } from './as-system.ts';
export { type OperationResponse, execute } from './execute.ts';
export {
  type WaitCondition,
  handlersByOperation,
  type Caller,
  type HandlerEnvironment,
  handle,
  handleBatch,
  type BatchOutcome,
  type Handler,
  type HandlerContext,
  type HandlersOf,
  type EventReaction,
} from './handle.ts';
export { type OperationCall } from './operation-call.ts';
export { withCanonicalPullRequest, withCanonicalUrl, canonicalPullUrlOf } from './pull-addresses.ts';
export { isWellFormedSession, newSessionSecret, sessionTokenHash } from './sessions.ts';
export {
  type LookUpWrapper,
  type AuthenticatedToken,
  type Authenticator,
  createAuthenticator,
  hashToken,
  isWellFormedToken,
  newTokenSecret,
  tokenPrefixOf,
} from './tokens.ts';
export {
  activeProjectsVisibleTo,
  getVisibleProject,
  requireProject,
  requireStory,
  requireTeam,
  projectsVisibleTo,
} from './visible.ts';
export { executeWithWaits, type WaitEnd } from './waiting.ts';

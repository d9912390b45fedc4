/** Integration with GitHub, GitLab, Gitea and Forgejo. */
import { createForgesHandlers } from './operations/handlers.ts';
import { type ForgesConfig } from './operations/set-up.ts';

/** Creates the handlers of this library, by namespace, for an installation. */
export const forgesHandlers = (config: ForgesConfig) => ({ forges: createForgesHandlers(config) });

export { forgeReactions } from './reactions.ts';
export { type IncomingDelivery, receiveDelivery } from './receive.ts';
export { type AppPage, readAppPage, acceptAppCode } from './app-page.ts';
export { fetchAppKeys } from './make-app.ts';
export { appPagePath, type ForgesConfig, webhookPath } from './operations/set-up.ts';
export { abandonDelivery, type ForgeJobContext, replayFacts, processDelivery } from './translate.ts';
export { type SendForgeRequest, ForgeRefusal } from './calls/call.ts';
export { fetchChanges } from './changes.ts';
export { pollForge } from './identify.ts';
export { requestPullPolls } from './reconcile.ts';
export { createForgeCalls, type ForgeCalls, queueChangedStatuses, sendStatus } from './statuses.ts';

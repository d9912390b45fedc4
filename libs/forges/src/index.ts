/** Integration with GitHub, GitLab, Gitea and Forgejo. */
import { forges } from './operations/handlers.ts';
import { type ForgesSetUp } from './operations/set-up.ts';

/** Creates the handlers of this library, by namespace, for an installation. */
export const forgesHandlers = (setUp: ForgesSetUp) => ({ forges: forges(setUp) });

export { forgeReactions } from './reactions.ts';
export { type Delivered, receiveDelivery } from './receive.ts';
export { type AppPage, readAppPage, takeAppCode } from './app-page.ts';
export { makeApp } from './make-app.ts';
export { appPath, type ForgesSetUp, hookPath } from './operations/set-up.ts';
export { abandonDelivery, type ForgeWork, replayFacts, translateDelivery } from './translate.ts';
export { type AskForge, ForgeRefusal } from './calls/call.ts';
export { askForge } from './identify.ts';
export { reconcile } from './reconcile.ts';
export { createForgeCalls, type ForgeCalls, lookAtHeads, sendStatus } from './statuses.ts';

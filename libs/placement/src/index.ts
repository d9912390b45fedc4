export { exchangeCopies, registerCopyReceiver } from './copies.ts';
export {
  allNodes,
  databaseFor,
  forEachInSequence,
  awaitAll,
  findOnNodes,
  forEachNode,
  groupByNode,
  hasOtherNodes,
  joinNodes,
  runWhereKnown,
} from './databases.ts';
export { CannotMoveError } from './moving/cannot-move.ts';
export { type MoveResult, moveOrganization, type MoveStep } from './moving/move.ts';
export { type AllNodes, homeNodeName, type Node } from './nodes.ts';
export { nodeHealthChecks, openNodes, type NodeAddress, type OpenNodes, parseNodes } from './open-nodes.ts';
export { chooseNode, claimSlug, createOnNode, databaseBytes, removePlacement } from './placing.ts';
export { queryOtherServers } from './platform.ts';
export { inSignInTransaction, type SignInDb } from './sign-in.ts';

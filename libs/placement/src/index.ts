export { exchangeCopies, startCopies } from './copies.ts';
export {
  allNodes,
  databaseFor,
  eachInTurn,
  everyOne,
  findOnNodes,
  forEachNode,
  groupByNode,
  hasNodes,
  joinNodes,
  runWhereKnown,
} from './databases.ts';
export { CannotMove } from './moving/cannot-move.ts';
export { type Moved, moveOrganization, type MoveStep } from './moving/move.ts';
export { type AllNodes, homeName, type Node } from './nodes.ts';
export { nodeChecks, openNodes, type NodeAddress, type OpenNodes, parseNodes } from './open-nodes.ts';
export { chooseNode, claimSlug, createOnNode, databaseBytes, removePlacement } from './placing.ts';
export { askOtherServers } from './platform.ts';
export { inSignIn, type SignInDb } from './sign-in.ts';

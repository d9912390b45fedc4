export { addPeer, exchangeCopies } from './copies.ts';
export { CannotMove } from './moving/cannot-move.ts';
export { type Moved, moveOrganization, type MoveStep } from './moving/move.ts';
export {
  askEvery,
  atEachNode,
  atItsNode,
  atNode,
  atNodeOfNow,
  byNode,
  eachInTurn,
  everyNode,
  everyOne,
  forgetPlace,
  homeName,
  joinNodes,
  type Node,
  type NodeAddress,
  type Nodes,
  nodesOf,
  parseNodes,
} from './nodes.ts';
export { nodeChecks, openNodes, type OpenNodes } from './open-nodes.ts';
export { bytesAt, claimSlug, makeAtNode, nodeForNew } from './placing.ts';
export { askOtherServers } from './platform.ts';
export { inSignIn, type SignInDb } from './sign-in.ts';

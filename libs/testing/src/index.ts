export { cloneDatabase, type TestDatabase } from './database.ts';
export { type Wire, wireTo } from './wire.ts';
export {
  type CallSetUp,
  type Makers,
  type OrgSetUp,
  type People,
  type Person,
  type TokenSetUp,
  useWorld,
  type World,
} from './world.ts';
export { refusalOf } from './refusals.ts';

import { runningInstance } from '../dev/operators.ts';
import { mailFolder } from '../dev/repository.ts';
import { bringUpInstance } from './own-instance.ts';
import { type Instance } from './instance.ts';

/** The one that `npm start` runs here, else one of our own that leaves nothing behind. */
export async function findInstance(): Promise<Instance> {
  const facts = runningInstance();
  if (facts !== undefined && facts.baseUrl !== null) {
    return {
      baseUrl: facts.baseUrl,
      mcpUrl: facts.mcpUrl,
      databaseUrl: facts.databaseUrl,
      is: 'the instance that runs here',
      mailFolder: facts.workerUrl === null ? null : mailFolder,
      tail: () => ['its log is .data/logs/coordination-api.log'],
      stop: () => Promise.resolve(),
    };
  }
  return (await bringUpInstance('brought up for the tour, since none runs here', false)).instance;
}

import { beforeAll } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { type Muster } from './muster.ts';

type Execution = Awaited<ReturnType<Client['deliveryExecutions']['getForTarget']>>['execution'];

export interface RunnerStories {
  readonly people: People;
  /** The client of the member who runs the commands and contributes to the project. */
  readonly chloe: Client;
  /** Creates a story that can start, and returns its key. */
  readonly createStory: (title?: string, touches?: string[]) => Promise<string>;
  readonly executionOf: (key: string) => Promise<Execution>;
}

/** Creates an organization with the project WEB. */
export function useStories(muster: Muster): RunnerStories {
  let people: People;
  let chloe: Client;
  beforeAll(async () => {
    people = await muster.world.org();
    chloe = muster.apiClient(people.chloe);
    await chloe.projects.create({ key: 'WEB', name: 'Web' });
  });
  return {
    get people() {
      return people;
    },
    get chloe() {
      return chloe;
    },
    async createStory(title = 'Say good night', touches: string[] = []) {
      const spec = 'It says good night.';
      const { story } = await chloe.stories.create({
        ...{ projectId: 'WEB', title, status: 'ready', spec, touches },
      });
      return story.key;
    },
    async executionOf(key) {
      const { execution } = await chloe.deliveryExecutions.getForTarget({
        targetType: 'story',
        targetId: key,
      });
      return execution;
    },
  };
}

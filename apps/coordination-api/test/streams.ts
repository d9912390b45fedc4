/** What specs of the stream begin with: a team with a project for each test, and streams that end with it. */
import { afterEach, beforeEach } from '@jest/globals';
import { type Client } from '@muster/client';
import { type People } from '@muster/testing';
import { type Api } from './api.ts';

interface Team {
  readonly people: People;
  /** Of the owner. */
  readonly ana: Client;
}

/** Hands over a new team with the project WEB before each test, and closes after it what the test added to the set. */
export function useStreams<Stream extends { close(): void }>(
  api: Api,
  begin: (team: Team) => void,
): Set<Stream> {
  const open = new Set<Stream>();
  beforeEach(async () => {
    const people = await api.org();
    const ana = api.client(people.ana.me.token);
    await ana.projects.create({ key: 'WEB', name: 'Website' });
    begin({ people, ana });
  });
  afterEach(() => {
    for (const stream of open) stream.close();
    open.clear();
  });
  return open;
}

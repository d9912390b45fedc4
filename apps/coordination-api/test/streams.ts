/**
 * Setup for specs of the stream: a team with a project for each test, and streams that are closed after it.
 */
import { afterEach, beforeEach } from '@jest/globals';
import { type Client } from '@muster/client';
import { type AllHandlers } from '@muster/operations';
import { type People } from '@muster/testing';
import { type TestApi } from './api.ts';

interface Team {
  readonly people: People<AllHandlers>;
  /** A client with the owner's token. */
  readonly ana: Client;
}

/**
 * Passes a new team with the project WEB to `begin` before each test. Closes all streams in the returned set
 * after each test.
 */
export function useStreams<Stream extends { close(): void }>(
  api: TestApi,
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

import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseNetworks } from './addresses.ts';
import { AddressRefused, createGuardedFetch, type GuardedFetch } from './guarded-fetch.ts';

let server: Server;
let port: number;
let asked = 0;
const open: GuardedFetch[] = [];
const fetchWith = (networks: string): GuardedFetch => {
  const made = createGuardedFetch(parseNetworks(networks));
  open.push(made);
  return made;
};

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    if (request.url === '/away') response.writeHead(302, { location: '/' }).end();
    else response.end('here');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  ({ port } = server.address() as AddressInfo);
});
afterAll(async () => {
  await Promise.all(open.map((one) => one.close()));
  await new Promise((done) => server.close(done));
});

it('reaches what the operator named', async () => {
  const answer = await fetchWith('127.0.0.0/8:*,::1/128:*')(`http://127.0.0.1:${port}/`);
  expect(await answer.text()).toBe('here');
  const byName = await fetchWith('127.0.0.0/8:*')(`http://localhost:${port}/`);
  expect(await byName.text()).toBe('here');
});

it('sends nothing to an address that is not open, by number or by name', async () => {
  const before = asked;
  await expect(fetchWith('')(`http://127.0.0.1:${port}/`)).rejects.toBeInstanceOf(AddressRefused);
  // The URL could lead to a network that is open; its name does not.
  await expect(fetchWith('10.0.0.0/8:*')(`http://localhost:${port}/`)).rejects.toBeInstanceOf(AddressRefused);
  expect(asked).toBe(before);
});

it('follows no redirect: where it leads was not looked at', async () => {
  await expect(fetchWith('127.0.0.0/8:*')(`http://127.0.0.1:${port}/away`)).rejects.toThrow();
});

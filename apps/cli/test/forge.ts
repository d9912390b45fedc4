/** A server for pull requests with the documented answers of GitHub, GitLab and Forgejo. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';

export type Kind = 'github' | 'gitlab' | 'forgejo';

interface Opened {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly branch: string;
  readonly base: string;
  readonly isDraft: boolean;
  /**
   * The id of the repository that contains the pull request's branch. The repository with id 1 contains the
   * base branch.
   */
  readonly from: number;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TestForge {
  readonly url: () => string;
  readonly opened: Opened[];
  readonly calls: Call[];
  /** Replaces the answer to the next requests that open a pull request. */
  onOpen: ((response: ServerResponse) => void) | undefined;
  /** The number of upcoming searches for which the server finds no pull request. */
  blind: number;
  clear: () => void;
}

const repositoryOf = (id: number) => ({ id, name: 'web', full_name: id === 1 ? 'acme/web' : 'mallory/web' });

/** The format of a pull request in each forge. */
const responseByKind: Readonly<Record<Kind, (url: string, one: Opened) => object>> = {
  github: (url, one) => ({
    ...{ id: 1000 + one.number, number: one.number, state: 'open', title: one.title, body: one.body },
    ...{ html_url: `${url}/acme/web/pull/${one.number}`, draft: one.isDraft, merged_at: null },
    head: { label: `acme:${one.branch}`, ref: one.branch, sha: '0'.repeat(40), repo: repositoryOf(one.from) },
    base: { label: `acme:${one.base}`, ref: one.base, sha: '0'.repeat(40), repo: repositoryOf(1) },
  }),
  gitlab: (url, one) => ({
    ...{ id: 1000 + one.number, iid: one.number, project_id: 1, state: 'opened', title: one.title },
    ...{ description: one.body, source_branch: one.branch, target_branch: one.base, draft: one.isDraft },
    ...{ source_project_id: one.from, target_project_id: 1, merge_status: 'unchecked' },
    web_url: `${url}/acme/web/-/merge_requests/${one.number}`,
  }),
  forgejo: (url, one) => ({
    ...{ id: 1000 + one.number, number: one.number, state: 'open', title: one.title, body: one.body },
    ...{ html_url: `${url}/acme/web/pulls/${one.number}`, mergeable: true, merged: false },
    head: {
      label: one.branch,
      ref: one.branch,
      sha: '0'.repeat(40),
      repo_id: one.from,
      repo: repositoryOf(one.from),
    },
    base: { label: one.base, ref: one.base, sha: '0'.repeat(40), repo_id: 1, repo: repositoryOf(1) },
  }),
};

interface Said {
  readonly title: string;
  readonly body?: string;
  readonly description?: string;
  readonly head?: string;
  readonly base?: string;
  readonly source_branch?: string;
  readonly target_branch?: string;
  readonly draft?: boolean;
}

const pathByKind: Readonly<Record<Kind, string>> = {
  github: '/api/v3/repos/acme/web/pulls',
  gitlab: '/api/v4/projects/acme%2Fweb/merge_requests',
  forgejo: '/api/v1/repos/acme/web/pulls',
};

const refusals: Readonly<Record<Kind, readonly [number, object]>> = {
  github: [
    422,
    {
      message: 'Validation Failed',
      errors: [
        {
          ...{ resource: 'PullRequest', code: 'custom' },
          message: 'A pull request already exists for acme:branch.',
        },
      ],
    },
  ],
  gitlab: [409, { message: ['Another open merge request already exists for this source branch: !1'] }],
  forgejo: [409, { message: 'pull request already exists for these targets [id: 1]' }],
};

export function useForge(kind: Kind): TestForge {
  let url = '';
  const forge: TestForge = {
    ...{ url: () => url, opened: [], calls: [], onOpen: undefined, blind: 0 },
    clear: () => {
      forge.opened.length = 0;
      forge.calls.length = 0;
      forge.onOpen = undefined;
      forge.blind = 0;
    },
  };
  const reply = (response: ServerResponse, status: number, json: object): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  };
  const find = (query: URLSearchParams): Opened[] => {
    if (forge.blind > 0) {
      forge.blind -= 1;
      return [];
    }
    const head = query.get('head')?.split(':')[1] ?? query.get('source_branch');
    return forge.opened.filter(({ branch }) => head === null || branch === head).toReversed();
  };
  const open = (said: Said): Opened | undefined => {
    const branch = said.head ?? said.source_branch ?? '';
    const base = said.base ?? said.target_branch ?? '';
    if (forge.opened.some((one) => one.branch === branch && one.base === base && one.from === 1))
      return undefined;
    const [, mark, title = ''] = /^(Draft: |WIP: )?(.*)$/s.exec(said.title) ?? [];
    const one = {
      ...{ number: forge.opened.length + 1, title, branch, base, from: 1 },
      ...{ body: said.body ?? said.description ?? '', isDraft: said.draft === true || mark !== undefined },
    };
    forge.opened.push(one);
    return one;
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      forge.calls.push({ method, path, headers });
      const { pathname, searchParams } = new URL(path, url);
      if (pathname !== pathByKind[kind]) {
        reply(response, 404, { message: 'Not Found' });
      } else if (method === 'GET') {
        reply(
          response,
          200,
          find(searchParams).map((one) => responseByKind[kind](url, one)),
        );
      } else {
        const one = open(JSON.parse(Buffer.concat(chunks).toString()) as Said);
        if (forge.onOpen !== undefined) forge.onOpen(response);
        else if (one === undefined) reply(response, ...refusals[kind]);
        else reply(response, 201, responseByKind[kind](url, one));
      }
    });
  });
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return forge;
}

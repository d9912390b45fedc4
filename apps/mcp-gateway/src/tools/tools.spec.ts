import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { type Tool } from '@modelcontextprotocol/server';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { instructionsFor } from '../protocol/instructions.ts';
import { createView } from '../http/narrowing.ts';
import { type CallerIdentity } from './rights.ts';
import { toolListFor } from '../protocol/server.ts';
import { allTools, findTool } from './toolbox.ts';
import { type ObjectSchema } from './schemas.ts';
import { operationTool, operationTools, toolNameOf } from './tools.ts';

const toolOperations = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));

/** An identity with every permission in an organization and on the installation. */
const ownerFacts = { name: 'Ana', role: 'owner', org: 'Acme' } as const;
const token = { scopes: ['admin', 'platform'], agentId: null, projectIds: null, mayReadInbox: true } as const;
const unrestrictedIdentity: CallerIdentity = { token, actsFor: ownerFacts, ids: null };

const encoding = new Tiktoken(o200k);
const countTokens = (value: unknown): number => encoding.encode(JSON.stringify(value)).length;

describe('names', () => {
  it('are what every client takes', () => {
    for (const { name } of allTools) expect(name).toMatch(/^[a-zA-Z0-9_]{1,45}$/);
  });

  it('are one for each operation, and both spellings find it', () => {
    expect(new Set(allTools.map(({ name }) => name)).size).toBe(allTools.length);
    for (const { name } of toolOperations) {
      expect(findTool(name)).toMatchObject({ operation: { name } });
      expect(findTool(toolNameOf(name))).toBe(findTool(name));
    }
  });

  it('cover what the registry offers to models, in its order', () => {
    expect(operationTools.map(({ operation }) => operation.name)).toEqual(
      toolOperations.map(({ name }) => name),
    );
  });

  it('find nothing that the registry keeps from models', () => {
    const kept = [...operations.values()].filter(({ surfaces }) => !surfaces.includes('tool'));
    // Webhooks are reserved for people, so none of their operations is a tool.
    const others = kept.filter(({ name }) => !name.startsWith('webhooks.'));
    const names = [
      ...['agents.record', 'agents.create', 'agents.list', 'agents.retire'],
      ...['agents.runs.get', 'agents.runs.list', 'agents.runs.log'],
      ...['sessions.list', 'sessions.revoke', 'sessions.revokeOthers'],
      ...['tokens.create', 'tokens.list', 'tokens.revoke'],
      ...['connections.list', 'connections.revoke'],
      ...['passkeys.list', 'passkeys.rename', 'passkeys.delete'],
      ...['list', 'upsert', 'delete', 'test'].map((word) => `identityProviders.${word}`),
      ...['devices.list', 'devices.connectChat', 'devices.connectSlackAccount'],
      ...[
        'projects.deliveryHealth',
        'stories.subscribe',
        'stories.restore',
        'stories.listDeleted',
        'comments.replies',
        'attachments.create',
        'attachments.get',
        'attachments.list',
        'attachments.delete',
        'changes.diff',
      ],
      ...['begin', 'put', 'finish', 'get', 'list', 'undo'].map((word) => `imports.${word}`),
      ...['begin', 'get', 'list'].map((word) => `exports.${word}`),
      ...['create', 'update', 'delete', 'list'].map((word) => `views.${word}`),
      'events.list',
      ...['connect', 'get', 'list', 'update', 'disconnect'].map((word) => `forges.${word}`),
      ...['list', 'link', 'unlink'].map((word) => `forges.repositories.${word}`),
      ...['list', 'redeliver'].map((word) => `forges.deliveries.${word}`),
      'notifications.snooze',
      ...['usage.summary', 'usage.prices.set', 'usage.prices.list'],
      ...['budgets.set', 'budgets.list', 'budgets.delete'],
    ];
    expect(others.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    expect(kept).toHaveLength(others.length + 13);
    for (const { name } of kept) {
      expect(findTool(name)).toBeUndefined();
      expect(findTool(toolNameOf(name))).toBeUndefined();
    }
  });
});

describe('what a model reads', () => {
  const shown = allTools.map(({ tool }) => tool);

  it.each(shown.map((tool) => [tool.name, tool] as const))('of %s is short', (_name, tool) => {
    expect(tool.description?.length).toBeLessThanOrEqual(400);
    // Clients reject references in a JSON schema, and some clients reject a list of types.
    expect(JSON.stringify(tool)).not.toMatch(/"\$ref"|"\$defs"|"pattern"|x-muster|"type":\[/);
  });

  it('says of each operation what comes back and which refusals', () => {
    for (const { operation, tool } of operationTools) {
      expect(tool.description).toContain(operation.summary);
      expect(tool.description).toContain(' Returns ');
      for (const reason of operation.refusals.filter((one) => one !== 'archived'))
        expect(tool.description).toContain(reason);
    }
  });

  it('has all four hints, and they follow the contract', () => {
    for (const { operation, tool } of operationTools) {
      expect(Object.values(tool.annotations ?? {}).map((hint) => typeof hint)).toEqual(
        Array(4).fill('boolean'),
      );
      expect(tool.annotations?.readOnlyHint).toBe(operation.effect === 'read');
      expect(tool.annotations).toMatchObject({
        idempotentHint: operation.idempotent,
        destructiveHint: operation.destructive,
      });
      if ('deleted' in operation.result.shape) expect(tool.annotations?.destructiveHint).toBe(true);
    }
  });

  it.each(['orgs_transferOwnership', 'invitations_revoke', 'deliveryExecutions_complete'])(
    'does not say of %s, which ends something for good, that it only adds',
    (name) => {
      expect(operationTool(name)?.tool.annotations?.destructiveHint).toBe(true);
    },
  );

  it('hides projectId where the connection fills it in', () => {
    for (const { tool, withoutProject, takesProject } of operationTools) {
      const names = Object.keys(withoutProject.inputSchema.properties ?? {});
      expect(names).not.toContain('projectId');
      expect(withoutProject.inputSchema.required ?? []).not.toContain('projectId');
      expect(names.length).toBe(
        Object.keys(tool.inputSchema.properties ?? {}).length - (takesProject ? 1 : 0),
      );
    }
  });
});

describe('the short lists', () => {
  const shortList = toolListFor(createView({ mode: 'core' }), unrestrictedIdentity).tools;
  const namesIn = (tool: Tool) => Object.keys(tool.inputSchema.properties ?? {});

  it('describe every parameter, in at most twelve words', () => {
    const undescribed = shortList.flatMap(({ name, inputSchema }) =>
      Object.entries(inputSchema.properties ?? {})
        .filter(([, property]) => !JSON.stringify(property).includes('"description"'))
        .map(([parameter]) => `${name}.${parameter}`),
    );
    expect(undescribed).toEqual([]);
    const words = shortList.flatMap(({ name, inputSchema }) =>
      Object.entries((inputSchema as ObjectSchema).properties).map(
        ([parameter, { description = '' }]) =>
          [`${name}.${parameter}`, description.split(' ').length] as const,
      ),
    );
    expect(words.filter(([, count]) => count > 12)).toEqual([]);
  });

  it('leave out rare parameters of operations only, which are accepted and described elsewhere', () => {
    const leftOut = shortList.flatMap((listed) => {
      const tool = findTool(listed.name);
      if (tool === undefined) throw new Error(`no tool ${listed.name}`);
      const missing = namesIn(tool.tool).filter((name) => !namesIn(listed).includes(name));
      if (missing.length > 0) expect(tool.kind).toBe('operation');
      for (const name of missing) {
        expect(Object.keys(tool.fullParams.properties)).toContain(name);
        expect(listed.inputSchema.required ?? []).not.toContain(name);
      }
      return missing.map((name) => `${listed.name}.${name}`);
    });
    expect(leftOut).toEqual([
      ...['data', 'expectedSeq'].map((name) => `deliveryExecutions_checkpoint.${name}`),
      ...['maxBytes', 'part'].map((name) => `session_identity.${name}`),
      ...['columnId', 'storyIds', 'updatedSince'].map((name) => `stories_list.${name}`),
      ...['anchor', 'codeAnchor'].map((name) => `comments_create.${name}`),
    ]);
  });

  it('keep the hints that differ from what a client assumes', () => {
    const assumed = {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    };
    for (const { name, annotations } of shortList) {
      const whole = findTool(name)?.tool.annotations ?? {};
      const understood = { ...assumed, ...annotations };
      expect(understood).toMatchObject(
        whole.readOnlyHint === true ? { readOnlyHint: true, openWorldHint: false } : whole,
      );
    }
  });
});

describe('what it costs a model', () => {
  it('is at most 25,000 tokens for everything', () => {
    expect(
      countTokens(toolListFor(createView({ mode: 'full' }), unrestrictedIdentity).tools),
    ).toBeLessThanOrEqual(25_000);
  });

  it('is at most 3,000 tokens in core mode', () => {
    const { tools } = toolListFor(createView({ mode: 'core' }), unrestrictedIdentity);
    expect(tools.length).toBeLessThanOrEqual(20);
    expect(countTokens(tools)).toBeLessThanOrEqual(3_000);
  });

  it('is at most 1,500 tokens in search mode', () => {
    expect(
      countTokens(toolListFor(createView({ mode: 'search' }), unrestrictedIdentity).tools),
    ).toBeLessThanOrEqual(1_500);
  });

  it('is told in the guide by the number of tools', () => {
    const count = toolListFor(createView({ mode: 'full' }), unrestrictedIdentity).tools.length;
    const guide = readFileSync(
      path.resolve(import.meta.dirname, '../../../../docs/guides/mcp-clients.md'),
      'utf8',
    );
    expect(guide.replaceAll(/\s+/g, ' ')).toContain(`lists all ${count} tools;`);
  });

  it.each([{}, { mode: 'core' }, { mode: 'search', project: 'WEB' }, { readonly: '1' }])(
    'is less than 2,000 characters of instructions with %j',
    (given) => {
      const view = createView(given);
      const long = { ...unrestrictedIdentity, acts: { ...ownerFacts, name: 'N'.repeat(500) } };
      expect(
        instructionsFor(long, view, toolListFor(view, unrestrictedIdentity).visibleTools).length,
      ).toBeLessThan(2_000);
    },
  );
});

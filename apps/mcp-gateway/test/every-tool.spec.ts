// Every operation through the gateway, with the contract's own example. New operations are included
// automatically.
import { expect, it } from '@jest/globals';
import { operations } from '@muster/registry';
import { checkEachCase } from '@muster/testing';
import { exampleCallerOf, createExampleOrgProvider } from '@muster/examples';
import { toolNameOf } from '../src/tools/tools.ts';
import { specRead, useGateway } from './gateway.ts';

const gateway = useGateway();
const orgFor = createExampleOrgProvider(gateway.world);

const offered = [...operations.values()].filter(({ surfaces }) => surfaces.includes('tool'));

it('does what its operation does, and answers what that declares', async () => {
  const cases = offered.map((operation) => [toolNameOf(operation.name), operation] as const);
  await checkEachCase(cases, async (operation) => {
    const { token } = exampleCallerOf(operation, await orgFor(operation)).me;
    const read = await specRead(gateway, operation.name, token);
    // All organizations of this file share a database, so some results exceed the default size.
    const whole = operation.effect === 'read' ? { maxBytes: 1_000_000 } : {};
    const args = { ...(operation.example as object), ...whole, ...read };
    const answer = await gateway.tool(token, toolNameOf(operation.name), args, { query: '?view=full' });
    const { isError, content, structuredContent } = answer;
    expect([isError, structuredContent.error]).toEqual([undefined, undefined]);
    expect(operation.result.parse(structuredContent)).toEqual(structuredContent);
    expect(JSON.parse(content[0]?.text ?? '')).toEqual(structuredContent);
  });
}, 300_000);

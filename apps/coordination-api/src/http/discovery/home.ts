import { type ReferencePage } from '@muster/reference';
import { interfaceVersion } from '@muster/contract';
import { operations } from '@muster/registry';
import { productDescription, type Addresses, mcpUrlOf } from './addresses.ts';

/** The page at `/`: a description of the product with links. */
export function createHomePage(addresses: Addresses, reference: readonly ReferencePage[]): ReferencePage {
  const { baseUrl, docsUrl, licenseUrl, hasConsole } = addresses;
  const mcpUrl = mcpUrlOf(addresses);
  const ways = [
    ...(hasConsole
      ? [`[Console](${baseUrl}/console/): the board, stories and agents at work, for people`]
      : []),
    ...(docsUrl === null ? [] : [`[Guides](${docsUrl}): the first ten minutes, concepts, how to run it`]),
    `[Reference](/reference): all ${operations.size} operations with parameters, results and errors`,
    '[OpenAPI 3.1](/openapi.json): the reference for code generators',
    '[llms.txt](/llms.txt) and [llms-full.txt](/llms-full.txt): the reference for language models',
    '[agents.json](/.well-known/agents.json): the addresses of all services, for programs',
    ...(mcpUrl === null
      ? []
      : [
          `\`${mcpUrl}\`: every operation as a tool, over the Model Context Protocol; it lists the core tools, and \`?mode=full\` lists all`,
        ]),
    ...(licenseUrl === null ? [] : [`\`${licenseUrl}\`: activation of licenses, for installers`]),
  ];
  const call = [
    `curl -sS ${baseUrl}/api/session/identity \\`,
    '  -H "Authorization: Bearer $TOKEN" \\',
    `  -H 'Content-Type: application/json' -d '{}'`,
  ].join('\n');
  return {
    path: '',
    title: 'Muster',
    summary: productDescription,
    json: {
      name: 'Muster',
      version: interfaceVersion,
      pages: reference.map(({ path, title }) => ({ path: `/${path}`, title })),
    },
    markdown: `# Muster\n\n${productDescription} Version ${interfaceVersion}.\n\n${ways.map((way) => `- ${way}`).join('\n')}\n\n## A first call\n\n\`\`\`bash\n${call}\n\`\`\`\n\nEvery page here comes as HTML, as Markdown (\`Accept: text/markdown\`) and as data (\`Accept: application/json\`).\n`,
  };
}

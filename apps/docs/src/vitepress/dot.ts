/** Converts a Mermaid state diagram, as in docs/states.md, to the language of Graphviz. */

const arrowPattern = /^(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?$/;
const namedGroupPattern = /^state "(.+)" as (\w+)( \{)?$/;
const memberPattern = /^(\w+)$/;

const quote = (text: string): string => `"${text.replaceAll('"', '\\"')}"`;

interface StateGroup {
  readonly label: string;
  readonly members: string[];
}

/** Throws on an unknown line, since an incomplete diagram would be wrong. */
export function mermaidToDot(mermaid: string): string {
  const groups = new Map<string, StateGroup>();
  const arrows: [from: string, to: string, label: string][] = [];
  let inside: StateGroup | undefined;
  for (const line of mermaid.split('\n').map((one) => one.trim())) {
    const [, from, to, label = ''] = arrowPattern.exec(line) ?? [];
    const [, title, name, opens] = namedGroupPattern.exec(line) ?? [];
    const [, state] = memberPattern.exec(line) ?? [];
    if (line === '' || line === 'stateDiagram-v2') continue;
    if (line === '}') inside = undefined;
    else if (from !== undefined && to !== undefined) arrows.push([from, to, label]);
    else if (title !== undefined && name !== undefined) {
      const group: StateGroup = { label: title, members: [] };
      groups.set(name, group);
      if (opens !== undefined) inside = group;
    } else if (state !== undefined && inside !== undefined) inside.members.push(state);
    else throw new Error(`this line of a diagram cannot be drawn: ${line}`);
  }
  // Graphviz draws no arrows to groups of states. An arrow ends at the first state of the group and is
  // clipped at the group's border.
  const end = (name: string): string => groups.get(name)?.members[0] ?? name;
  const isDrawn = (name: string): boolean => (groups.get(name)?.members.length ?? 0) > 0;
  const lines = [...groups].map(([name, { label, members }]) =>
    members.length === 0
      ? `${quote(name)} [label=${quote(label)}, style="rounded,dashed"]`
      : `subgraph cluster_${name} { label=${quote(label)}; labelloc=b; style="rounded,dashed"; ${members.map(quote).join('; ')} }`,
  );
  const drawn = arrows.map(([from, to, label]) => {
    const more = [
      ...(label === '' ? [] : [`label=${quote(label)}`]),
      ...(isDrawn(from) ? [`ltail=cluster_${from}`] : []),
      ...(isDrawn(to) ? [`lhead=cluster_${to}`] : []),
    ];
    return `${quote(end(from))} -> ${quote(end(to))} [${more.join(', ')}]`;
  });
  return [
    'digraph {',
    'compound=true; bgcolor=transparent; nodesep=0.4; ranksep=0.55',
    'graph [fontname="sans-serif", fontsize=11]',
    'node [shape=box, style=rounded, fontname="sans-serif", fontsize=12, height=0.35]',
    'edge [fontname="sans-serif", fontsize=10, arrowsize=0.6]',
    '"[*]" [label="", shape=circle, style=filled, fillcolor=black, width=0.15, height=0.15, fixedsize=true]',
    ...lines,
    ...drawn,
    '}',
  ]
    .filter((line) => !line.startsWith('"[*]"') || arrows.some((one) => one.includes('[*]')))
    .join('\n');
}

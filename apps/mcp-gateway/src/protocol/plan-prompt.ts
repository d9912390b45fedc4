/** The built-in prompt `plan`, which asks the model to break work down into stories and to apply them as a plan. */
import { type ListPromptsResult } from '@modelcontextprotocol/server';
import { findTool } from '../tools/toolbox.ts';
import { type McpSession } from './session.ts';

type McpPrompt = ListPromptsResult['prompts'][number];

export const planPromptName = 'plan';
const title = 'Plan work as stories';

/** Returns the prompt if the connection may apply plans. */
export function offerPlanPrompt({ view }: McpSession): McpPrompt | undefined {
  const tool = findTool('plans_apply');
  if (tool === undefined || !view.canCallTool(tool)) return undefined;
  const goal = {
    name: 'goal',
    description: 'The outcome of the work, or the text of its spec',
    required: true,
  };
  const project = { name: 'projectId', description: 'The key of the project', required: true };
  return {
    ...{ name: planPromptName, title, description: title },
    // A connection that is restricted to a project fills it in.
    arguments: view.project === null ? [goal, project] : [goal],
  };
}

export const renderPlanPrompt = (goal: string, projectId: string): string =>
  `Break this work down into stories of the project ${projectId}, and apply them as a plan.

<goal>
${goal}
</goal>

1. Read the code and the open stories that matter. Do not plan what exists already.
2. Write the items for plans_apply. Each item has a short ref that stays the same, such as T001, a title that states an
   outcome, a description with acceptance criteria, and an estimate. One agent must be able to finish and test it alone.
3. Give each item touches, the paths that it will change, and dependsOn only where it needs the result of another item.
   Items that touch the same files should not be in one wave.
4. Call plans_apply with mode preview. If criticalPath is long or a wave has one item, look for dependencies to remove.
5. Show the waves and ask for approval. Then call plans_apply with the same parameters and mode apply.
   If nobody can approve it here, leave the plan for a person: put it as YAML, with plan and items, into a code block
   with the language muster-plan, in a comment on a story of the project, or in its spec if it is long. The story in the
   console then offers a preview of the changes, which a person can apply.

To change the plan later, call plans_apply again with the same planRef and refs.`;

/** The answers of hooks in the documented form of each client. */
import { type HookName } from './names.ts';

/** The decision of a hook, independent of the client. */
export type HookDecision =
  /** The client continues as if there were no hook. */
  | { readonly kind: 'continue' }
  /** Text for the model's context, or for the summary that replaces it. */
  | { readonly kind: 'context'; readonly text: string }
  /** The model works on before it stops. */
  | { readonly kind: 'remind'; readonly text: string }
  | { readonly kind: 'refuse'; readonly text: string }
  /** The client continues, and shows the text to the person. */
  | { readonly kind: 'warn'; readonly text: string };

type TextAnswers = Readonly<
  Record<Exclude<HookDecision['kind'], 'continue'>, (text: string, hook: HookName) => object>
>;

const eventNames = { 'session-start': 'SessionStart', 'before-edit': 'PreToolUse' } as const;

/**
 * A message to the person. Before compaction, Claude Code also adds it to the request for the summary; the other clients
 * accept no text for the model then.
 */
const systemMessage = (text: string): object => ({ systemMessage: text });

const deniedTool = (text: string): object => ({
  hookEventName: eventNames['before-edit'],
  permissionDecision: 'deny',
  permissionDecisionReason: text,
});

const addedContext = (text: string): object => ({
  hookEventName: eventNames['session-start'],
  additionalContext: text,
});

const claudeAnswers: TextAnswers = {
  context: (text, hook) =>
    hook === 'session-start' ? { hookSpecificOutput: addedContext(text) } : systemMessage(text),
  remind: (text) => ({ decision: 'block', reason: text }),
  refuse: (text) => ({ hookSpecificOutput: deniedTool(text) }),
  warn: systemMessage,
};

/** Answers for GitHub Copilot CLI and for VS Code, which share a hooks file but read different fields. */
const copilotAnswers: TextAnswers = {
  context: (text, hook) =>
    hook === 'session-start'
      ? { additionalContext: text, hookSpecificOutput: addedContext(text) }
      : systemMessage(text),
  remind: (text) => ({
    ...{ decision: 'block', reason: text },
    hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason: text },
  }),
  refuse: (text) => ({
    ...{ permissionDecision: 'deny', permissionDecisionReason: text },
    hookSpecificOutput: deniedTool(text),
  }),
  warn: systemMessage,
};

const answersByClient: Readonly<Record<string, TextAnswers>> = {
  claude: claudeAnswers,
  codex: claudeAnswers,
  copilot: copilotAnswers,
  gemini: {
    ...claudeAnswers,
    remind: (text) => ({ decision: 'deny', reason: text }),
    refuse: (text) => ({ decision: 'deny', reason: text }),
  },
  cursor: {
    context: (text, hook) =>
      hook === 'session-start' ? { additional_context: text } : { user_message: text },
    remind: (text) => ({ followup_message: text }),
    refuse: (text) => ({ permission: 'deny', user_message: text, agent_message: text }),
    warn: (text) => ({ user_message: text }),
  },
  // The plugin that `muster setup opencode` writes reads this form.
  opencode: {
    context: (text) => ({ context: text }),
    remind: (text) => ({ message: text }),
    refuse: (text) => ({ deny: text }),
    warn: (text) => ({ warning: text }),
  },
};

/** Returns the client's form of the decision. An unknown client gets the form of Claude Code. */
export function toClientAnswer(client: string, hook: HookName, decision: HookDecision): object {
  if (decision.kind === 'continue') return {};
  const answers = Object.hasOwn(answersByClient, client) ? answersByClient[client] : undefined;
  return (answers ?? claudeAnswers)[decision.kind](decision.text, hook);
}

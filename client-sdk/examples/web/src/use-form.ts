import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { isApiError } from 'work-management-client';
import { createKeys, type Keys } from './keys.ts';
import { write } from './network.ts';
import { explain, fail } from './notices.ts';
import { useIsGone } from './use-is-gone.ts';

/** What stands beside the fields that it is about, by the `name` of the field. */
export type Problems = Readonly<Record<string, ComponentChildren>>;

/**
 * A form that is sent once at a time and says why it was refused: beside the fields that `blame` finds, the first of
 * which gets the focus, or else in one sentence. `send` takes the keys of what it makes.
 */
export function useForm(
  send: (keys: Keys) => Promise<void>,
  blame: (error: unknown) => Problems = () => ({}),
): {
  isSending: boolean;
  problem: string | null;
  problems: Problems;
  onSubmit(event: Event): void;
} {
  const [keys] = useState(createKeys);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const [problems, setProblems] = useState<Problems>({});
  const isGone = useIsGone();
  useLayoutEffect(() => {
    const [first] = Object.keys(problems);
    if (first !== undefined) document.getElementById(first)?.focus();
  }, [problems]);

  async function submit(): Promise<void> {
    setSending(true);
    setProblem(null);
    setProblems({});
    try {
      await write(async () => send(keys));
      keys.clear();
    } catch (error) {
      if (isGone()) return fail(error);
      const found = blame(error);
      if (Object.keys(found).length > 0) setProblems(found);
      else setProblem(explain(error));
    } finally {
      setSending(false);
    }
  }

  return {
    isSending,
    problem,
    problems,
    onSubmit(event) {
      event.preventDefault();
      if (!isSending) void submit();
    },
  };
}

/** The name and the label of a field, by the field of the input that it is for. */
export type FieldNames = Readonly<Record<string, readonly [name: string, label: string]>>;

/** The issues of an input beside its fields, as whole sentences; none where one of them is about something else. */
export function issuesOf(error: unknown, fields: FieldNames): Problems {
  if (!isApiError(error)) return {};
  const found: Record<string, ComponentChildren> = {};
  for (const { path, message } of error.issues) {
    const field = fields[String(path[0])];
    if (!field) return {};
    const [name, label] = field;
    found[name] ??= `${label} ${message}.`;
  }
  return found;
}

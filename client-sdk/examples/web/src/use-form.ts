import { useState } from 'preact/hooks';
import { write } from './network.ts';
import { explain } from './notices.ts';

/** A form that is sent once at a time and says why it was refused. */
export function useForm(send: () => Promise<void>): {
  isSending: boolean;
  problem: string | null;
  onSubmit(event: Event): void;
} {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  async function submit(): Promise<void> {
    setSending(true);
    setProblem(null);
    try {
      await write(send);
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setSending(false);
    }
  }

  return {
    isSending,
    problem,
    onSubmit(event) {
      event.preventDefault();
      if (!isSending) void submit();
    },
  };
}

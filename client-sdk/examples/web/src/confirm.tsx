import type { ComponentChildren, JSX } from 'preact';
import { FormDialog } from './dialog.tsx';

type ConfirmProps = {
  question: string;
  action: string;
  send(): Promise<void>;
  onClose(isSent: boolean): void;
  /** What comes of it. */
  children: ComponentChildren;
};

/** Asks before something is taken away. */
export function Confirm({ question, action, send, onClose, children }: ConfirmProps): JSX.Element {
  return (
    <FormDialog heading={question} action={action} sending="One moment…" isDanger send={send} onClose={onClose}>
      {() => <p>{children}</p>}
    </FormDialog>
  );
}

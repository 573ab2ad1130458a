/** How the command ends. */
export const exitCodes = { done: 0, failed: 1, usage: 2, notSignedIn: 3, refused: 4, stopped: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** What keeps the command from going on, in words for the person who runs it. */
export class Problem extends Error {
  readonly exitCode: ExitCode;

  constructor(sentence: string, exitCode: ExitCode = exitCodes.failed) {
    super(sentence);
    this.exitCode = exitCode;
  }
}

/** The command was called in a way that cannot be meant. */
export class UsageProblem extends Problem {
  constructor(sentence: string) {
    super(sentence, exitCodes.usage);
  }
}

// The answers of this tab that run, told to the engine of this tab, too, while it leads.

type Answer = { readonly length: number };

export class RunningAnswers extends Set<Answer> {
  private other: Set<Answer> | null = null;

  set also(other: Set<Answer> | null) {
    this.other = other;
    for (const answer of this) other?.add(answer);
  }

  override add(answer: Answer): this {
    this.other?.add(answer);
    return super.add(answer);
  }

  override delete(answer: Answer): boolean {
    this.other?.delete(answer);
    return super.delete(answer);
  }
}

/** A path to a field as Kubernetes prints it: `spec.containers[0].name`, `metadata.labels[a/b]`. */
export class FieldPath {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static readonly root = new FieldPath('');

  static of(...names: string[]): FieldPath {
    return FieldPath.root.child(...names);
  }

  child(...names: string[]): FieldPath {
    let text = this.#text;
    for (const name of names) text = text === '' ? name : `${text}.${name}`;
    return new FieldPath(text);
  }

  index(position: number): FieldPath {
    return new FieldPath(`${this.#text}[${position}]`);
  }

  key(name: string): FieldPath {
    return new FieldPath(`${this.#text}[${name}]`);
  }

  toString(): string {
    return this.#text === '' ? '<nil>' : this.#text;
  }
}

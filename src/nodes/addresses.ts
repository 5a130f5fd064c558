/** Hands out addresses of one IPv4 block, each to one holder at a time; a freed one is reused last. */
export class AddressPool {
  readonly #base: number;
  readonly #size: number;
  readonly #byAddress = new Map<string, string>();
  readonly #byHolder = new Map<string, string>();
  #next = 0;

  /** @param block in CIDR form, such as `10.128.0.0/9`; its first and last address are not used. */
  constructor(block: string) {
    const [address = '', bits = '32'] = block.split('/');
    this.#base = toNumber(address);
    this.#size = 2 ** (32 - Number(bits)) - 2;
  }

  /** The holder's address, a new one if it has none. */
  take(holder: string): string {
    const own = this.#byHolder.get(holder);
    if (own !== undefined) return own;
    if (this.#byAddress.size >= this.#size) throw new Error(`No address is left of ${this.#size}`);
    for (;;) {
      const address = toText(this.#base + 1 + (this.#next++ % this.#size));
      if (this.#byAddress.has(address)) continue;
      this.claim(holder, address);
      return address;
    }
  }

  /** Records an address that is already in use. */
  claim(holder: string, address: string): void {
    this.#byAddress.set(address, holder);
    this.#byHolder.set(holder, address);
  }

  release(holder: string): void {
    const address = this.#byHolder.get(holder);
    this.#byHolder.delete(holder);
    if (address !== undefined && this.#byAddress.get(address) === holder) this.#byAddress.delete(address);
  }
}

function toNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}

export default function busy(args: { ms: number }): string;

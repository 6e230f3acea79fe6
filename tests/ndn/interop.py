# SPDX-License-Identifier: BSD-2-Clause
"""Packets of userspace/ndn and of python-ndn, each read by the other. Prints
TAP. Run by interop.t."""

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import traceback

from Cryptodome.PublicKey import ECC
from ndn import encoding as enc
from ndn import security as sec
from ndn.encoding import ndnlp_v2
from ndn.security.validator.digest_validator import (params_sha256_checker,
                                                     sha256_digest_checker)

ROUNDS = 150
SECRET = bytes(range(32))
SEED = bytes(range(100, 132))
KEY_NAME = "/ps/KEY/1"
# Prefix that turns 32 bytes into the format that python-ndn reads.
DER = bytes.fromhex("302e020100300506032b657004220420")

TOOL = os.path.join(os.environ.get("TRIB_BUILD", "build"),
                    "tests/ndn/ndn_tool")


class Ours:
    """ndn_tool, kept running."""

    def __init__(self):
        self.tool = subprocess.Popen([TOOL], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        self.tool.stdin.write(" ".join(str(w) for w in words) + "\n")
        self.tool.stdin.flush()
        verdict, _, rest = self.tool.stdout.readline().strip().partition(" ")
        return verdict == "ok", rest

    def must(self, *words):
        good, rest = self.ask(*words)
        assert good, f"{words}: {rest}"
        return rest

    def bytes(self, *words):
        return bytes.fromhex(self.must(*words))

    def fields(self, key, wire):
        """A packet's fields as we see them."""
        words = self.must("decode", key, bytes(wire).hex()).split()
        return dict(w.split("=", 1) for w in words)


ours = Ours()


class Key:
    """One kind of signature: ours (a file), theirs (signer, checker)."""

    def __init__(self, kind, path, signer, check):
        self.kind, self.path, self.signer, self.check = (kind, path, signer,
                                                         check)


def key_file(folder, kind, secret):
    path = os.path.join(folder, kind)
    with open(path, "w", encoding="ascii",
              opener=lambda p, f: os.open(p, f, 0o600)) as f:
        f.write(f"{kind} {KEY_NAME} {secret.hex()}\n")
    return path


def digest_is_right(sig):
    # Their checker takes another type of signature for good.
    return (sig.signature_info.signature_type == 0 and
            asyncio.run(sha256_digest_checker([], sig)))


def make_keys(folder):
    ed25519 = ECC.import_key(DER + SEED)
    return [
        Key(0, "sha256", sec.DigestSha256Signer, digest_is_right),
        Key(4, key_file(folder, "hmac", SECRET),
            lambda: sec.HmacSha256Signer(KEY_NAME, SECRET),
            lambda sig: sec.verify_hmac(SECRET, sig)),
        Key(5, key_file(folder, "ed25519", SEED),
            lambda: sec.Ed25519Signer(KEY_NAME, DER + SEED),
            lambda sig: sec.verify_ed25519(ed25519, sig)),
    ]


# ---- names ----

URIS = ["/a", "/ps/job", "/insert/ps/job", "/ps/job/v=3/seg=0",
        "/v=4294967296", "/seg=255/seg=256/seg=65535/seg=65536",
        "/%00%FF", "/32=metadata", "/65535=x", "/a-b._~c", "/off=1/t=2/seq=3",
        "/params-sha256=" + "0f" * 32, "/a/sha256digest=" + "a0" * 32]


def ndn__uris_mean_the_same(_):
    for uri in URIS:
        value = b"".join(bytes(c) for c in enc.Name.from_str(uri))
        assert ours.bytes("name", uri) == value, uri
        assert ours.must("text", value.hex()) == uri, uri
        assert enc.Name.to_str(enc.Name.from_str(uri)) == uri, uri


def random_name(rng, most=6):
    """A name that both write alike: neither empty values nor just dots."""
    parts = []
    for _ in range(rng.randint(1, most)):
        if rng.random() < 0.3:
            kind = rng.choice([0x32, 0x34, 0x36, 0x38, 0x3A])
            number = rng.getrandbits(rng.choice([4, 8, 16, 32, 64]))
            parts.append(enc.Component.from_number(number, kind))
        else:
            value = bytes([rng.randint(97, 122)]) + rng.randbytes(
                rng.randint(0, 20))
            kind = 8 if rng.random() < 0.8 else rng.choice([32, 252, 253,
                                                            65535])
            parts.append(enc.Component.from_bytes(value, kind))
    return [bytes(p) for p in parts]


def ndn__any_is_written_and_read_alike(_):
    rng = random.Random(1)
    for _round in range(ROUNDS):
        name = random_name(rng)
        uri = enc.Name.to_str(name)
        value = b"".join(name)
        assert ours.must("text", value.hex()) == uri, uri
        assert ours.bytes("name", uri) == value, uri


# ---- Data ----

def random_data(rng):
    """The fields, as ndn_tool and as python-ndn want them."""
    name = random_name(rng)
    words, meta = [], {"content_type": None}
    if rng.random() < 0.4:
        meta["content_type"] = rng.choice([1, 2, 3, 300])
        words.append(f"type={meta['content_type']}")
    if rng.random() < 0.7:
        meta["freshness_period"] = rng.getrandbits(rng.choice([0, 8, 20, 40]))
        words.append(f"freshness={meta['freshness_period']}")
    if rng.random() < 0.3:
        final = enc.Component.from_segment(rng.getrandbits(12))
        meta["final_block_id"] = final
        words.append("final=" + enc.Name.to_str([final]))
    # Without fields we omit the element, python-ndn writes it empty.
    meta = enc.MetaInfo(**meta) if words else None
    content = None
    if rng.random() < 0.9:
        content = rng.randbytes(rng.choice([0, 1, 100, 252, 253, 1024, 8000]))
        words.append("content=" + content.hex())
    return name, meta, content, words


def data__ours_is_theirs_bit_by_bit(keys):
    rng = random.Random(3)
    for _ in range(ROUNDS):
        name, meta, content, words = random_data(rng)
        for key in keys:
            theirs = bytes(enc.make_data(name, meta, content, key.signer()))
            wire = ours.bytes("data", key.path, enc.Name.to_str(name), *words)
            assert wire == theirs, (wire.hex(), theirs.hex())


def data__they_verify_ours(keys):
    rng = random.Random(4)
    for _ in range(ROUNDS // 3):
        name, meta, content, words = random_data(rng)
        for key in keys:
            wire = ours.bytes("data", key.path, enc.Name.to_str(name), *words)
            got, got_meta, got_content, sig = enc.parse_data(wire)
            assert [bytes(c) for c in got] == name
            assert bytes(got_content or b"") == (content or b"")
            if meta:
                assert got_meta.freshness_period == meta.freshness_period
                assert got_meta.content_type == meta.content_type
            assert sig.signature_info.signature_type == key.kind
            assert key.check(sig)
            bad = bytearray(wire)
            bad[-1] ^= 1
            assert not key.check(enc.parse_data(bad)[3])


def data__we_verify_theirs(keys):
    rng = random.Random(5)
    for _ in range(ROUNDS // 3):
        name, meta, content, _words = random_data(rng)
        for key in keys:
            # With a ContentType of 0, too, which we would leave out.
            wire = bytearray(enc.make_data(name, meta or enc.MetaInfo(),
                                           content, key.signer()))
            f = ours.fields(key.path, wire)
            assert f["kind"] == "data" and f["verified"] == "1", f
            assert f["name"] == enc.Name.to_str(name)
            assert f.get("content") == (None if content is None
                                        else content.hex())
            assert int(f["sig-type"]) == key.kind
            if meta and meta.freshness_period is not None:
                assert int(f["freshness"]) == meta.freshness_period
            wire[-1] ^= 1
            assert ours.fields(key.path, wire)["verified"] == "0"


# ---- Interests ----

def random_interest(rng):
    p, words = enc.InterestParam(lifetime=None), []
    if rng.random() < 0.5:
        p.can_be_prefix = True
        words.append("prefix=1")
    if rng.random() < 0.5:
        p.must_be_fresh = True
        words.append("fresh=1")
    if rng.random() < 0.2:
        p.forwarding_hint = [random_name(rng, 2) for _ in range(2)]
        words.append("hint=" + b"".join(
            bytes(enc.Name.to_bytes(n)) for n in p.forwarding_hint).hex())
    if rng.random() < 0.8:
        p.nonce = rng.getrandbits(32)
        words.append(f"nonce={p.nonce}")
    if rng.random() < 0.8:
        p.lifetime = rng.getrandbits(rng.choice([8, 12, 20, 40]))
        words.append(f"lifetime={p.lifetime}")
    if rng.random() < 0.5:
        p.hop_limit = rng.getrandbits(8)
        words.append(f"hop-limit={p.hop_limit}")
    return random_name(rng), p, words


def same_interest(p, f):
    assert int(f["prefix"]) == p.can_be_prefix
    assert int(f["fresh"]) == p.must_be_fresh
    for field, value in (("nonce", p.nonce), ("lifetime", p.lifetime),
                         ("hop-limit", p.hop_limit)):
        assert f.get(field) == (None if value is None else str(value)), field


def interest__ours_is_theirs_bit_by_bit(keys):
    rng = random.Random(6)
    for _ in range(ROUNDS):
        name, p, words = random_interest(rng)
        uri = enc.Name.to_str(name)
        assert (ours.bytes("interest", "-", uri, *words) ==
                bytes(enc.make_interest(name, p)))
        params = rng.randbytes(rng.choice([0, 1, 300]))
        words.append("params=" + params.hex())
        assert (ours.bytes("interest", "-", uri, *words) ==
                bytes(enc.make_interest(name, p, params)))
        for key in keys:
            assert (ours.bytes("interest", key.path, uri, *words) ==
                    bytes(enc.make_interest(name, p, params, key.signer())))


def interest__they_verify_ours(keys):
    rng = random.Random(7)
    for _ in range(ROUNDS // 3):
        name, p, words = random_interest(rng)
        for key in keys:
            wire = ours.bytes("interest", key.path, enc.Name.to_str(name),
                              *words, "params=0102", "sig-nonce=0304",
                              f"sig-time={rng.getrandbits(40)}", "sig-seq=9")
            got, got_p, params, sig = enc.parse_interest(wire)
            assert [bytes(c) for c in got[:-1]] == name
            assert got_p.nonce == p.nonce and got_p.lifetime == p.lifetime
            assert got_p.hop_limit == p.hop_limit
            assert got_p.can_be_prefix == p.can_be_prefix
            assert len(got_p.forwarding_hint) == len(p.forwarding_hint)
            assert bytes(params) == b"\1\2"
            assert sig.signature_info.signature_seq_num == 9
            assert sig.signature_info.signature_nonce == 0x304
            assert asyncio.run(params_sha256_checker(got, sig))
            assert key.check(sig)
            bad = bytearray(wire)
            bad[-1] ^= 1
            sig = enc.parse_interest(bad)[3]
            assert not asyncio.run(params_sha256_checker(got, sig))
            assert not key.check(sig)


def interest__we_verify_theirs(keys):
    rng = random.Random(8)
    for _ in range(ROUNDS // 3):
        name, p, _words = random_interest(rng)
        for key in keys:
            signer = key.signer()
            # Only this one of theirs has a nonce and a time.
            signer.for_interest = True
            wire = bytearray(enc.make_interest(name, p, b"xyz", signer))
            f = ours.fields(key.path, wire)
            assert f["kind"] == "interest" and f["params"] == b"xyz".hex(), f
            assert f["digest"] == "1" and f["verified"] == "1", f
            assert f["name"].startswith(enc.Name.to_str(name) + "/params-")
            assert ("sig-time" in f) == (key.kind == 0)
            same_interest(p, f)
            assert ours.bytes("again", key.path, wire.hex()) == bytes(wire)
            wire[-1] ^= 1
            f = ours.fields(key.path, wire)
            assert f["digest"] == "0" and f["verified"] == "0"


# ---- link packets ----

def lp__nacks_are_the_same(_):
    rng = random.Random(9)
    for reason in (50, 100, 150, 1000):
        name, p, _words = random_interest(rng)
        interest = bytes(enc.make_interest(name, p))
        wire = ours.bytes("lp", interest.hex(), f"nack={reason}")
        assert wire == bytes(ndnlp_v2.make_network_nack(interest, reason))
        got, inner = ndnlp_v2.parse_network_nack(wire)
        assert got == reason and bytes(inner) == interest
        f = ours.fields("-", wire)
        assert f["nack"] == str(reason) and f["kind"] == "interest"


def lp__header_fields_are_the_same(keys):
    rng = random.Random(10)
    for size in (1, 8, 32):
        name, meta, content, words = random_data(rng)
        data = bytes(enc.make_data(name, meta, content[:1000] if content
                                   else content, keys[0].signer()))
        token = rng.randbytes(size)
        wire = ours.bytes("lp", data.hex(), "token=" + token.hex(),
                          "congestion=1")
        got = ndnlp_v2.parse_lp_packet_v2(wire)
        assert bytes(got.pit_token) == token and got.congestion_mark == 1
        assert got.nack is None and bytes(got.fragment) == data
        theirs = ndnlp_v2.LpPacket()
        theirs.lp_packet = got
        assert bytes(theirs.encode()) == wire
        f = ours.fields("sha256", wire)
        assert f["token"] == token.hex() and f["congestion"] == "1"
        assert f["verified"] == "1" and f["name"] == enc.Name.to_str(name)


def lp__fragments_are_refused_by_both(_):
    packet = ndnlp_v2.LpPacket()
    packet.lp_packet = ndnlp_v2.LpPacketValue()
    packet.lp_packet.frag_index = 0
    packet.lp_packet.frag_count = 2
    packet.lp_packet.fragment = bytes(enc.make_interest(
        "/a", enc.InterestParam()))
    wire = bytes(packet.encode())
    good, why = ours.ask("decode", "-", wire.hex())
    assert not good and "fragment" in why, why
    try:
        ndnlp_v2.parse_lp_packet_v2(wire)
    except enc.DecodeError:
        return
    raise AssertionError("they take it")


TESTS = [ndn__uris_mean_the_same, ndn__any_is_written_and_read_alike,
         data__ours_is_theirs_bit_by_bit, data__they_verify_ours,
         data__we_verify_theirs,
         interest__ours_is_theirs_bit_by_bit, interest__they_verify_ours,
         interest__we_verify_theirs, lp__nacks_are_the_same,
         lp__header_fields_are_the_same, lp__fragments_are_refused_by_both]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        keys = make_keys(folder)
        for n, test in enumerate(TESTS, 1):
            try:
                test(keys)
                good = True
            except Exception:
                good = False
                for line in traceback.format_exc().splitlines()[-8:]:
                    print("#", line[:1000])
            failed |= not good
            print(f"{'' if good else 'not '}ok {n} - {test.__name__}",
                  flush=True)
    print(f"1..{len(TESTS)}")
    return failed


if __name__ == "__main__":
    sys.exit(main())

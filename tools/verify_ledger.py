#!/usr/bin/env python3
"""Verifies a Holdpoint ledger independently of Holdpoint, from docs/ledger.md alone.

    verify_ledger.py DIRECTORY [--key KEY] [--checkpoint FILE]... [--approvers FILE] [--json]

KEY is a key kept elsewhere (NAME+ID+BASE64, or a file that holds it); FILE a signed note kept elsewhere.
Exit code 0: nothing is wrong; 4: something is; 1: it could not be verified.
The FILE of --approvers holds the keys of people that are pinned; without it /etc/holdpoint/approvers.json is taken.
Needs Python 3.8 or newer and nothing else.
"""

import argparse
import base64
import binascii
import functools
import hashlib
import json
import os
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple

MAX_LINE = 65536
MAX_SMALL = 65536
HEAD_LENGTH = 181
CHUNK = 1 << 20
LISTED = 100
LOCK_WAIT = 10.0
U32, U64 = 1 << 32, 1 << 64

KINDS = frozenset(
    "decision hold_opened hold_answered hold_expired release result text_finding policy_change "
    "session_rule repair checkpoint error".split()
)
LATEST_NOTE = "latest.checkpoint"
LOSSES = frozenset(["lost", "unclaimed", "no_head"])


# --- Ed25519 (RFC 8032), verification only -------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
IDENTITY = (0, 1, 1, 0)


def add(a, b):
    """Adds points in extended coordinates."""
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    m = (y1 - x1) * (y2 - x2) % P
    n = (y1 + x1) * (y2 + x2) % P
    c = 2 * t1 * t2 * D % P
    d = 2 * z1 * z2 % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    result = IDENTITY
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def is_same(a, b):
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def point_of(data):
    """The point that 32 bytes spell; none if they spell none, or not in the one way."""
    y = int.from_bytes(data, "little")
    odd, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - square) % P or (x == 0 and odd):
        return None
    if x & 1 != odd:
        x = P - x
    return x, y, 1, x * y % P


BASE = point_of((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(key, text, signature):
    """Whether `signature` by `key` fits `text`, checked strictly."""
    if len(signature) != 64:
        return False
    a, r = point_of(key), point_of(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= ORDER:
        return False
    if is_same(times(8, a), IDENTITY) or is_same(times(8, r), IDENTITY):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % ORDER
    return is_same(times(s, BASE), add(r, times(h, a)))


# --- P-256 and RSA, verification only ------------------------------------------------------------

P256 = 2**256 - 2**224 + 2**192 + 2**96 - 1
P256_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
P256_BASE = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def add_p256(a, b):
    """Adds points of P-256; none is the point at infinity."""
    if a is None or b is None:
        return b if a is None else a
    if a[0] == b[0]:
        if (a[1] + b[1]) % P256 == 0:
            return None
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], P256 - 2, P256)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], P256 - 2, P256)
    x = (slope * slope - a[0] - b[0]) % P256
    return x, (slope * (a[0] - x) - a[1]) % P256


def times_p256(number, point):
    result = None
    while number:
        if number & 1:
            result = add_p256(result, point)
        point = add_p256(point, point)
        number >>= 1
    return result


def is_signed_p256(key, text, r, s):
    """Whether the numbers of an ECDSA signature with SHA-256 by an uncompressed point fit `text`."""
    if len(key) != 65 or key[0] != 4 or not 0 < r < P256_ORDER or not 0 < s < P256_ORDER:
        return False
    x, y = int.from_bytes(key[1:33], "big"), int.from_bytes(key[33:], "big")
    if x >= P256 or y >= P256 or (y * y - x * x * x + 3 * x - P256_B) % P256:
        return False
    inverse = pow(s, P256_ORDER - 2, P256_ORDER)
    digest = int.from_bytes(hashlib.sha256(text).digest(), "big")
    one = times_p256(digest * inverse % P256_ORDER, P256_BASE)
    point = add_p256(one, times_p256(r * inverse % P256_ORDER, (x, y)))
    return point is not None and point[0] % P256_ORDER == r


def is_signed_rsa(key, text, signature):
    """Whether an RSA signature (PKCS #1 v1.5, SHA-256) by an `RSAPublicKey` fits `text`."""
    modulus, exponent = der_numbers(key)
    length = (modulus.bit_length() + 7) // 8
    if not 2048 <= modulus.bit_length() <= 8192 or len(signature) != length or exponent < 3 or exponent >= 2**33:
        return False
    name = bytes.fromhex("3031300d060960864801650304020105000420")
    digest = name + hashlib.sha256(text).digest()
    wanted = b"\x00\x01" + b"\xff" * (length - len(digest) - 3) + b"\x00" + digest
    number = int.from_bytes(signature, "big")
    return number < modulus and pow(number, exponent, modulus).to_bytes(length, "big") == wanted


def der_part(data, tag):
    """The content of the element `data` begins with, and what stands behind it."""
    if len(data) < 2 or data[0] != tag:
        raise Wrong("it is no DER as it is read here")
    length, start = data[1], 2
    if length & 0x80:
        start = 2 + (length & 0x7F)
        if not 1 <= length & 0x7F <= 2 or len(data) < start:
            raise Wrong("it is no DER as it is read here")
        length = int.from_bytes(data[2:start], "big")
    if len(data) < start + length:
        raise Wrong("it is no DER as it is read here")
    return data[start : start + length], data[start + length :]


def der_numbers(data):
    """The two numbers of a sequence."""
    inside, rest = der_part(data, 0x30)
    first, inside = der_part(inside, 2)
    second, inside = der_part(inside, 2)
    if rest or inside or not first or not second or first[0] & 0x80 or second[0] & 0x80:
        raise Wrong("it is no pair of numbers")
    return int.from_bytes(first, "big"), int.from_bytes(second, "big")


# --- What people signed --------------------------------------------------------------------------

RELEASE = "holdpoint-release-v1"
STATEMENT = "v for request node ledger binding card answer approver nonce time expires".split()
SPKI_P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d030107034200")
SPKI_ED25519 = bytes.fromhex("302a300506032b6570032100")
SPKI_RSA = bytes.fromhex("300d06092a864886f70d0101010500")


MAX_STATEMENT, MAX_TEXT = 4096, 256
NONCE = re.compile("[0-9a-f]{32}")


def is_plain(text):
    """Whether a text of a statement is as short and plain as all are."""
    controls = any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in text)
    return 0 < len(text.encode()) <= MAX_TEXT and not controls


def from_base64url(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(data).decode().rstrip("=") != text:
        raise Wrong("it is not base64 in its one spelling")
    return data


def is_signed_spki(spki, text, signature):
    if spki.startswith(SPKI_P256):
        return is_signed_p256(spki[len(SPKI_P256) :], text, *der_numbers(signature))
    if spki.startswith(SPKI_ED25519):
        return is_signed(spki[len(SPKI_ED25519) :], text, signature)
    inside, rest = der_part(spki, 0x30)
    if rest or not inside.startswith(SPKI_RSA):
        raise Wrong("its key is of no kind that is known")
    bits, rest = der_part(inside[len(SPKI_RSA) :], 3)
    if rest or bits[:1] != b"\x00":
        raise Wrong("its key is of no kind that is known")
    return is_signed_rsa(bits[1:], text, signature)


def ssh_parts(data):
    """Strings as ssh writes them, one after the other."""
    while data:
        length = int.from_bytes(data[:4], "big")
        if len(data) < 4 + length:
            raise Wrong("it is no signature of ssh")
        yield data[4 : 4 + length]
        data = data[4 + length :]


def ssh_text(*parts):
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


ON_ITS_DEVICE, SYNCED = "passkey of one device", "synced passkey"


def passkey_signed(statement, key, assertion):
    """Whether a passkey signed a statement (WebAuthn, level 2, 7.2)."""
    said, client = from_base64url(assertion["authenticator_data"]), from_base64url(assertion["client_data"])
    told = json.loads(client)
    digest = hashlib.sha256(RELEASE.encode() + b"\0" + statement.encode()).digest()
    if told["type"] != "webauthn.get" or from_base64url(told["challenge"]) != digest:
        raise Wrong("the signature is over another statement")
    if told["origin"] not in key["origins"] or told.get("crossOrigin", False):
        raise Wrong("another page asked for it")
    if len(said) < 37 or said[:32] != hashlib.sha256(key["rp"].encode()).digest():
        raise Wrong("the passkey is of another site")
    if said[32] & 5 != 5:
        raise Wrong("nobody touched the key, or it did not ask who")
    signed = said + hashlib.sha256(client).digest()
    return is_signed_spki(from_base64(key["public_key"]), signed, from_base64url(assertion["signature"]))


def ssh_signed(statement, key, armoured):
    """Whether a key of ssh with a device signed a statement (OpenSSH, PROTOCOL.sshsig and PROTOCOL.u2f)."""
    framed = re.fullmatch(
        "-----BEGIN SSH SIGNATURE-----(.*)-----END SSH SIGNATURE-----", armoured.rstrip("\n"), re.DOTALL
    )
    if not framed:
        raise Wrong("it is no signature of ssh")
    blob = from_base64(framed.group(1).replace("\n", ""))
    if blob[:10] != b"SSHSIG\0\0\0\1":
        raise Wrong("it is no signature of ssh")
    public, namespace, reserved, name, signature = ssh_parts(blob[10:])
    if reserved:
        raise Wrong("something stands in it that is not signed")
    if public != from_base64(key["public_key"].split()[1]):
        raise Wrong("it is of another key")
    if namespace.decode() != RELEASE:
        raise Wrong("it was made for something else than a release")
    hashed = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}[name](statement.encode()).digest()
    inner = b"SSHSIG" + ssh_text(namespace, b"", name, hashed)
    flags, counter = signature[-5], signature[-4:]
    kind, raw = ssh_parts(signature[:-5])
    parts = list(ssh_parts(public))
    application = parts[-1]
    if kind != parts[0] or not application.startswith(b"ssh:"):
        raise Wrong("the key was not made for ssh")
    if flags & 5 != 5:
        raise Wrong("nobody touched the key, or it did not ask who")
    signed = hashlib.sha256(application).digest() + bytes([flags]) + counter + hashlib.sha256(inner).digest()
    if kind == b"sk-ssh-ed25519@openssh.com" and len(parts) == 3:
        return is_signed(parts[1], signed, raw)
    if kind == b"sk-ecdsa-sha2-nistp256@openssh.com" and len(parts) == 4 and parts[1] == b"nistp256":
        r, s = (int.from_bytes(number, "big") for number in ssh_parts(raw))
        return is_signed_p256(parts[2], signed, r, s)
    raise Wrong("it is a key without a device")


def is_pinned(pins, approver, key):
    """Whether a key is somebody's among those that are pinned."""

    def bare(one):
        text = one["public_key"]
        return one["kind"], text.split()[:2] if one["kind"] == "sshsig" else text

    return any(
        person["name"] == approver and one["id"] == key["id"] and bare(one) == bare(key)
        for person in pins["people"]
        for one in person["keys"]
    )


def wanted_of(detail):
    """The request and binding of a release somebody had to sign; none if nobody had to, or an older version recorded it."""
    try:
        told = json.loads(detail)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("presence") not in ("key", "elsewhere"):
        return None
    request, binding = told.get("request"), told.get("binding") or ""
    return (request, binding) if isinstance(request, str) and isinstance(binding, str) else None


def proof_of(detail, approver):
    """The ledger, nonce, request, binding and key of a release somebody signed; none if nobody did."""
    try:
        told = json.loads(detail)
        if "statement" not in told:
            return None
        text, proof, key = told["statement"], told["proof"], told["key"]
        statement = json.loads(text)
        spelled = json.dumps(statement, separators=(",", ":"), ensure_ascii=False)
        if list(statement) != STATEMENT or spelled != text or statement["v"] != 1 or statement["for"] != "release":
            raise Wrong("what was signed is no statement")
        texts = [statement[name] for name in STATEMENT if name not in ("v", "for", "time", "expires")]
        if len(text.encode()) > MAX_STATEMENT or not all(map(is_plain, texts)) or not NONCE.fullmatch(statement["nonce"]):
            raise Wrong("what was signed is no statement")
        if not all(type(statement[name]) is int and 0 <= statement[name] < U64 for name in ("time", "expires")):
            raise Wrong("what was signed is no statement")
        if (statement["request"], statement["answer"]) != (told["request"], told["answer"]):
            raise Wrong("what was signed is about another request or answer")
        for name in ("binding", "card"):
            # Older versions recorded neither.
            if told.get(name) is not None and told[name] != statement[name]:
                raise Wrong("what was signed is about another call or card than was shown")
        if statement["approver"] != approver:
            raise Wrong("somebody else signed than answered")
        if proof["key"] != key["id"] or proof["kind"] != key["kind"]:
            raise Wrong("it was signed with another key")
        if key["kind"] == "webauthn":
            # Older versions named no device there.
            kept = from_base64url(proof["assertion"]["authenticator_data"])[32] & 8
            if told.get("device") is not None and not told["device"].endswith(SYNCED if kept else ON_ITS_DEVICE):
                raise Wrong("the record names another device than what was signed")
            holds = passkey_signed(text, key, proof["assertion"])
        else:
            holds = ssh_signed(text, key, proof["signature"])
        if not holds:
            raise Wrong("the signature is wrong")
        return statement["ledger"], statement["nonce"], (statement["request"], statement["binding"]), key
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise Wrong(f"what was signed cannot be read ({type(error).__name__})") from None


# --- Keys and notes ------------------------------------------------------------------------------


class Wrong(Exception):
    """What is wrong with a line, a key or a note."""


def from_base64(text):
    """Bytes, from the one spelling they have."""
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError, ValueError):
        raise Wrong("it is not base64") from None
    if base64.b64encode(data).decode() != text:
        raise Wrong("it is not base64 in its one spelling")
    return data


@dataclass(frozen=True)
class Key:
    text: str
    name: str
    id: bytes
    point: bytes


def key_of(text):
    parts = text.split("+", 2)
    if len(parts) != 3 or not parts[0]:
        raise Wrong("a key is NAME+ID+BASE64")
    name, digits, encoded = parts
    data = from_base64(encoded)
    if len(data) != 33 or data[0] != 1 or not is_point(data[1:]):
        raise Wrong("it is no Ed25519 key")
    digest = hashlib.sha256(name.encode() + b"\n\x01" + data[1:]).digest()[:4]
    if digest.hex() != digits:
        raise Wrong("the id of the key does not fit")
    return Key(text, name, digest, data[1:])


@functools.lru_cache(maxsize=64)
def is_point(data):
    return point_of(data) is not None


@dataclass(frozen=True)
class Checkpoint:
    origin: str
    size: int
    root: bytes


@functools.lru_cache(maxsize=4096)
def opened(note, key):
    """The checkpoint in a note; raises if `key` did not sign it."""
    text, empty, signatures = note.partition("\n\n")
    if not empty:
        raise Wrong("a note has an empty line before its signatures")
    if not signatures.endswith("\n"):
        raise Wrong("its last line has no end")
    found = False
    for line in signatures[:-1].split("\n"):
        if not line.startswith("\u2014 "):
            raise Wrong("a signature line starts with a dash")
        name, space, encoded = line[2:].partition(" ")
        if not space:
            raise Wrong("a signature line has a name and a signature")
        data = from_base64(encoded)
        if len(data) < 4:
            raise Wrong("a signature is too short")
        if name != key.name or data[:4] != key.id:
            continue
        if not is_signed(key.point, (text + "\n").encode(), data[4:]):
            raise Wrong("the signature does not fit the text")
        found = True
    if not found:
        raise Wrong("it is not signed by the key " + key.name)
    lines = text.split("\n")
    if len(lines) < 3:
        raise Wrong("a checkpoint has an origin, a size and a root")
    if not re.fullmatch("0|[1-9][0-9]*", lines[1]) or int(lines[1]) >= U64:
        raise Wrong("its size is no number")
    root = from_base64(lines[2])
    if len(root) != 32:
        raise Wrong("its root is no hash")
    return Checkpoint(lines[0], int(lines[1]), root)


# --- Records -------------------------------------------------------------------------------------

SPACE = re.compile(r"[ \t\n\r]*")
STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


def members(text):
    """The members of a JSON object: each key with the text of its value, in order.

    Nothing is nested in the way it works, so that a line of brackets only does no harm.
    """
    result: List[Tuple[str, str]] = []
    place = SPACE.match(text).end()
    if text[place : place + 1] != "{":
        raise Wrong("it is no object")
    open_ones = ["{"]
    place = SPACE.match(text, place + 1).end()
    # What may come next: a key, a value, or the end of the innermost; and the key at hand.
    expects, key, start = "key or end", "", 0
    while open_ones:
        sign = text[place : place + 1]
        ends = False
        if expects in ("key", "key or end") and sign == '"':
            end = string_end(text, place)
            if len(open_ones) == 1:
                key = text_of(text[place:end], "a key")
            place = SPACE.match(text, end).end()
            if text[place : place + 1] != ":":
                raise Wrong("a key has no value")
            place += 1
            expects = "value"
        elif sign and sign in "}]" and expects in ("key or end", "value or end", "comma or end"):
            if open_ones.pop() + sign not in ("{}", "[]"):
                raise Wrong("a bracket is closed by another")
            place += 1
            ends = True
        elif expects == "comma or end" and sign == ",":
            expects = "key" if open_ones[-1] == "{" else "value"
            place += 1
        elif expects in ("value", "value or end") and sign and sign in "{[":
            if len(open_ones) == 1:
                start = place
            open_ones.append(sign)
            expects = "key or end" if sign == "{" else "value or end"
            place += 1
        elif expects in ("value", "value or end"):
            if len(open_ones) == 1:
                start = place
            place = string_end(text, place) if sign == '"' else scalar_end(text, place)
            ends = True
        else:
            raise Wrong("it is no JSON")
        if ends:
            expects = "comma or end"
            if len(open_ones) == 1:
                result.append((key, text[start:place]))
        place = SPACE.match(text, place).end()
    if place != len(text):
        raise Wrong("something stands after the object")
    return result


def string_end(text, place):
    found = STRING.match(text, place)
    if not found:
        raise Wrong("a string is not well formed")
    return found.end()


def scalar_end(text, place):
    found = SCALAR.match(text, place)
    if not found:
        raise Wrong("it is no JSON")
    return found.end()


def once(pairs, names):
    """The values of some keys, none of which may stand there twice."""
    values: Dict[str, str] = {}
    for key, value in pairs:
        if key in names:
            if key in values:
                raise Wrong("a key stands there twice: " + key)
            values[key] = value
    return values


def number_of(values, name, bound=U64):
    text = values.get(name, "")
    if not re.fullmatch("0|[1-9][0-9]{0,19}", text) or int(text) >= bound:
        raise Wrong(name + " is no number")
    return int(text)


def string_of(values, name):
    text = values.get(name, "")
    if not text.startswith('"'):
        raise Wrong(name + " is no text")
    return text_of(text, name)


def text_of(string, name):
    """What a JSON string says; half of a surrogate pair says nothing."""
    value = json.loads(string)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Wrong(name + " is no text") from None
    return value


def plain_of(values, name):
    text = values.get(name, "")
    if not text.startswith('"') or "\\" in text:
        raise Wrong(name + " is no text without escapes")
    return text[1:-1]


@dataclass
class Record:
    seq: int
    prev: bytes
    time: str
    kind: str
    checkpoint: Optional[Tuple[str, str, List[str], Optional[bool]]] = None
    mend: Optional[Dict[str, object]] = None
    answered: Optional[Tuple[str, str]] = None
    wanted: Optional[Tuple[str, str]] = None


HASH = re.compile("[0-9a-f]{64}")


def record_of(line):
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise Wrong("it is not UTF-8") from None
    values = once(members(text), ("v", "seq", "prev", "time", "kind", "detail", "approver"))
    if number_of(values, "v", U32) != 1:
        raise Wrong("it is of another version")
    prev = plain_of(values, "prev")
    if not HASH.fullmatch(prev):
        raise Wrong("prev is no hash")
    kind = string_of(values, "kind")
    if kind not in KINDS:
        raise Wrong("its kind is unknown")
    record = Record(number_of(values, "seq"), bytes.fromhex(prev), plain_of(values, "time"), kind)
    if kind == "checkpoint":
        detail = once(members(values.get("detail", "")), ("note", "key", "tree", "automatic"))
        automatic = {"true": True, "false": False, "null": None}.get(detail.get("automatic", "null"), Wrong)
        if automatic is Wrong:
            raise Wrong("automatic is neither true nor false")
        peaks = strings_of(detail, "tree")
        record.checkpoint = string_of(detail, "note"), string_of(detail, "key"), peaks, automatic
    elif kind == "repair":
        record.mend = mend_of(values.get("detail", ""))
    elif kind == "hold_answered" and '"statement"' in values.get("detail", ""):
        record.answered = values["detail"], values.get("approver", "null")
    elif kind == "release" and '"presence"' in values.get("detail", ""):
        record.wanted = wanted_of(values["detail"])
    return record


def strings_of(values, name):
    text = values.get(name, "")
    if not text.startswith("["):
        raise Wrong(name + " is no list")
    items = text[1:-1].strip(" \t\n\r")
    result = []
    place = 0
    while place < len(items):
        end = string_end(items, place)
        result.append(string_of({name: items[place:end]}, name))
        place = SPACE.match(items, end).end()
        if place < len(items):
            place = SPACE.match(items, place + 1).end()
    return result


def mend_of(text):
    pairs = members(text)
    values = once(pairs, ("what",))
    what = string_of(values, "what")
    if what in ("lost", "unclaimed"):
        values = once(pairs, ("expected", "found"))
        return {"what": what, "expected": number_of(values, "expected"), "found": number_of(values, "found")}
    if what == "torn":
        values = once(pairs, ("bytes", "sha256"))
        return {"what": what, "bytes": number_of(values, "bytes"), "sha256": string_of(values, "sha256")}
    if what == "clock":
        return {"what": what, "last": string_of(once(pairs, ("last",)), "last")}
    if what in ("no_head", "acknowledged", "new_key"):
        return {"what": what}
    raise Wrong("what was mended is unknown")


# --- The tree ------------------------------------------------------------------------------------


def parent(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


class Tree:
    """The Merkle tree of RFC 6962, as the roots of the perfect trees it is made of."""

    def __init__(self):
        self.size = 0
        self.peaks: List[bytes] = []

    def add(self, leaf):
        size = self.size
        while size & 1:
            leaf = parent(self.peaks.pop(), leaf)
            size >>= 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self):
        if not self.peaks:
            return hashlib.sha256(b"").digest()
        root = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            root = parent(peak, root)
        return root


# --- The head ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Head:
    settled: bool
    segment: int
    size: int
    before: int
    records: int
    micros: int
    hash: bytes


HEAD = re.compile(
    "([AS]) 1 ([0-9]{8,10}) ([0-9]{20}) ([0-9]{20}) ([0-9]{20}) ([0-9]{20}) [01] ([0-9a-f]{64}) ([0-9a-f]{16})\n"
)


def head_of(data):
    """The head; none if this is no head."""
    try:
        found = HEAD.fullmatch(data.decode("ascii"))
    except UnicodeDecodeError:
        return None
    if not found:
        return None
    state, segment, *numbers, digest, check = found.groups()
    size, before, records, micros = (int(number) for number in numbers)
    if f"{int(segment):08}" != segment or int(segment) >= U32 or max(size, before, records, micros) >= U64:
        return None
    if hashlib.sha256(data[:-18]).hexdigest()[:16] != check:
        return None
    return Head(state == "S", int(segment), size, before, records, micros, bytes.fromhex(digest))


def time_of(micros):
    """A moment in the words of a record, also where the standard library has no more years."""
    seconds, micros = divmod(micros, 10**6)
    days, clock = divmod(seconds, 86400)
    # Years from March, so that the odd day is the last; 400 of them have 146,097 days.
    era, day = divmod(days + 719468, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5 - 1
    month += 3 if month < 10 else -9
    year += era * 400 + (month <= 2)
    return f"{year:04}-{month:02}-{day:02}T{clock // 3600:02}:{clock // 60 % 60:02}:{clock % 60:02}.{micros:06}Z"


# --- The directory at one moment -----------------------------------------------------------------


def numbered(directory, pattern, spelled, bound):
    found = []
    for entry in os.scandir(directory):
        name = entry.name
        match = re.fullmatch(pattern, name)
        # A pipe would be waited for, and a link leads elsewhere: no writer makes either.
        if not entry.is_file(follow_symlinks=False):
            continue
        if match and int(match[1]) < bound and spelled(int(match[1])) == name:
            found.append(int(match[1]))
    return sorted(found)


def segment_name(number):
    return f"{number:08}.jsonl"


def note_name(size):
    return f"{size:012}.checkpoint"


def small_file(path):
    """The bytes of a small file; none of one that is larger than any writer makes it."""
    with open(path, "rb") as file:
        data = file.read(MAX_SMALL + 1)
    return data if len(data) <= MAX_SMALL else b""


def lock_shared(file):
    try:
        import fcntl
    except ImportError:
        return
    stop = time.monotonic() + LOCK_WAIT
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > stop:
                raise OSError("the lock is held by another process") from None
            time.sleep(0.001)


def after_last_break(file, size):
    stop = size
    while stop > 0:
        start = max(0, stop - MAX_LINE)
        file.seek(start)
        at = file.read(stop - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        stop = start
    return 0


class Snapshot:
    def __init__(self, directory):
        path = os.path.join(directory, "lock")
        stored = b""
        lock = None
        try:
            lock = open(path, "rb")
        except FileNotFoundError:
            pass
        self.has_lock = lock is not None
        try:
            if lock:
                lock_shared(lock)
                stored = lock.read(HEAD_LENGTH + 1)
            self.has_head = len(stored) >= HEAD_LENGTH
            self.head = head_of(stored)
            self.segments = []
            for number in numbered(directory, r"([0-9]+)\.jsonl", segment_name, U32):
                size = os.stat(os.path.join(directory, segment_name(number))).st_size
                self.segments.append((number, size))
            self.torn = 0
            if self.segments:
                number, size = self.segments[-1]
                head = self.head
                if not (head and head.settled and (head.segment, head.size) == (number, size)):
                    with open(os.path.join(directory, segment_name(number)), "rb") as file:
                        whole = after_last_break(file, size)
                    self.torn = size - whole
                    self.segments[-1] = (number, whole)
            self.notes = []
            for size in numbered(directory, r"([0-9]+)\.checkpoint", note_name, U64):
                data = small_file(os.path.join(directory, note_name(size)))
                self.notes.append((note_name(size), data.decode(errors="replace")))
            try:
                data = small_file(os.path.join(directory, LATEST_NOTE))
                self.empty_note = not data
                if data:
                    self.notes.append((LATEST_NOTE, data.decode(errors="replace")))
            except FileNotFoundError:
                self.empty_note = False
            self.key = None
            self.has_key = any(os.path.lexists(os.path.join(directory, name)) for name in ("key", "key.pub"))
            try:
                text = small_file(os.path.join(directory, "key.pub")).decode(errors="replace")
                if text.endswith("\n"):
                    self.key = key_of(text[:-1])
            except (FileNotFoundError, Wrong):
                pass
        finally:
            if lock:
                lock.close()

    def was_emptied(self):
        """Whether a key or notes of a ledger lie here, none of its records, and no lock, which is made before them."""
        return not self.has_lock and not self.segments and (self.has_key or bool(self.notes))


# --- Verifying -----------------------------------------------------------------------------------


@dataclass
class Fault:
    file: str
    line: Optional[int]
    record: Optional[int]
    found: str

    def __str__(self):
        line = f":{self.line}" if self.line is not None else ""
        record = f": record {self.record}" if self.record is not None else ""
        return f"{self.file}{line}{record}: {self.found}"


@dataclass
class Result:
    records: int = 0
    bytes: int = 0
    segments: int = 0
    checkpoints: int = 0
    signed: int = 0
    proofs: int = 0
    unpinned: Optional[int] = None
    faults: List[Fault] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)


def lines_of(directory, number, size) -> Iterator[Tuple[bytes, bool]]:
    """The lines of a segment, and whether each may be a record; at last what has no end."""
    with open(os.path.join(directory, segment_name(number)), "rb") as file:
        rest = b""
        left = size
        while left > 0:
            data = file.read(min(CHUNK, left))
            if not data:
                break
            left -= len(data)
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield from pieces_of(line)
            if len(rest) > MAX_LINE:
                yield rest, False
                rest = b""
        if rest:
            raise NoEnd


class NoEnd(Exception):
    """A segment does not end with a line break."""


def pieces_of(line):
    if len(line) < MAX_LINE:
        yield line, True
        return
    for start in range(0, len(line), MAX_LINE):
        yield line[start : start + MAX_LINE], False


class Walk:
    def __init__(self, snapshot, given_key, given_notes, pins=None):
        self.snapshot = snapshot
        self.given = given_key
        self.elsewhere = bool(given_notes)
        self.all_notes = snapshot.notes + [("the note given", note) for note in given_notes]
        self.result = Result()
        self.tree = Tree()
        self.prev = bytes(32)
        self.time = ""
        self.keys: List[Key] = []
        self.may_change_key = False
        self.losses: List[Fault] = []
        self.nonces = set()
        self.proved = set()
        self.pins = pins
        self.result.unpinned = None if pins is None else 0
        self.signed: List[Tuple[int, str]] = []
        self.latest: Optional[int] = None
        self.roots: Dict[int, Optional[bytes]] = {}
        for _, note in self.all_notes:
            lines = note.split("\n", 2)
            if len(lines) > 1 and re.fullmatch("[0-9]{1,20}", lines[1]):
                self.roots[int(lines[1])] = None
        self.reach_root()

    def fault(self, file, line, record, found):
        # The first ones in order are all that is needed to name the first.
        if len(self.result.faults) < LISTED:
            self.result.faults.append(Fault(file, line, record, found))

    def mention(self, text):
        if len(self.result.notes) < LISTED:
            self.result.notes.append(text)

    def reach_root(self):
        if self.tree.size in self.roots:
            self.roots[self.tree.size] = self.tree.root()

    def run(self, directory):
        kept = self.snapshot.key
        # Whoever keeps a key or a note elsewhere knows that there was a ledger.
        if self.snapshot.segments or self.given or self.elsewhere:
            if kept is None:
                self.fault("key.pub", None, None, "the key is missing or damaged")
            elif self.given and self.given != kept:
                self.fault("key.pub", None, None, "the key is not the one given")
        if self.snapshot.was_emptied():
            self.fault(segment_name(1), None, 0, "a ledger was kept here, and all of its records are gone")
        expected = 1
        for number, size in self.snapshot.segments:
            if number != expected:
                self.fault(segment_name(expected), None, self.tree.size, "the segment is missing")
            expected = number + 1
            self.result.segments += 1
            self.result.bytes += size
            try:
                for place, (line, may_be) in enumerate(lines_of(directory, number, size), 1):
                    self.line(segment_name(number), place, line, may_be)
            except NoEnd:
                self.fault(segment_name(number), None, self.tree.size, "the last record has no end")
        self.end()
        if self.snapshot.empty_note:
            self.mention(f"{LATEST_NOTE} is empty: power was lost before it was on the disk, or somebody emptied it")
        self.kept_notes()
        self.notes_fit()
        key = self.given or kept
        if key and self.keys and self.keys[-1] != key and not self.may_change_key:
            self.fault("key.pub", None, None, "the checkpoints were signed with another key")
        result = self.result
        result.faults.extend(self.losses[:LISTED])
        last = float("inf")
        result.faults.sort(key=lambda one: (last if one.record is None else one.record, one.line is None))
        del result.faults[LISTED:]
        result.records = self.tree.size
        return result

    def line(self, file, place, line, may_be):
        number = self.tree.size

        def fault(found):
            self.fault(file, place, number, found)

        try:
            if not may_be:
                raise Wrong("it is too long")
            record = record_of(line)
        except Wrong as wrong:
            fault(f"this is no record: {wrong}")
        else:
            self.time = record.time
            if record.prev != self.prev:
                fault("it does not follow the record before")
            elif record.seq != number:
                fault(f"it says it is record {record.seq}")
            if record.checkpoint:
                try:
                    self.checkpoint(*record.checkpoint)
                    self.result.checkpoints += 1
                except Wrong as wrong:
                    fault(f"the checkpoint is not genuine: {wrong}")
            elif place == 1:
                fault("the segment does not open with a checkpoint")
            elif record.mend:
                self.mend(record.mend, Fault(file, place, number, ""))
            elif record.answered:
                try:
                    self.answered(*record.answered)
                except Wrong as wrong:
                    fault(f"the release is not a person's: {wrong}")
            elif record.wanted:
                if record.wanted not in self.proved:
                    fault("the release is not a person's: it wanted a signature and has none")
        self.prev = hashlib.sha256(b"\x00" + line).digest()
        self.tree.add(self.prev)
        self.reach_root()

    def mend(self, mend, fault):
        what = mend["what"]
        if what in LOSSES:
            fault.found = f"nobody took note of what was found: {what}"
            if len(self.losses) < LISTED:
                self.losses.append(fault)
        elif what == "acknowledged":
            for loss in self.losses:
                self.mention(f"{loss} (a person took note)")
            self.losses = []
        elif what == "new_key":
            self.may_change_key = True
        elif what == "torn":
            self.mention(f"record {fault.record}: a torn record of {mend['bytes']} bytes was cut off")

    def answered(self, detail, approver):
        proof = proof_of(detail, json.loads(approver))
        if proof is None:
            return
        ledger, nonce, released, key = proof
        if ledger not in [key.name for key in self.keys]:
            raise Wrong("it was signed for another ledger")
        if self.pins is not None and not is_pinned(self.pins, json.loads(approver), key):
            self.result.unpinned += 1
        if nonce in self.nonces:
            raise Wrong("it was used before")
        self.nonces.add(nonce)
        self.proved.add(released)
        self.result.proofs += 1

    def checkpoint(self, note, key_text, peaks, automatic):
        key = key_of(key_text)
        checkpoint = opened(note, key)
        if checkpoint.origin != key.name:
            raise Wrong("it is of another ledger")
        if not self.keys or self.keys[-1] != key:
            if self.keys and not self.may_change_key:
                raise Wrong("it was signed with another key")
            self.keys.append(key)
        self.may_change_key = False
        if checkpoint.size != self.tree.size:
            raise Wrong(f"it is over {checkpoint.size} records")
        if checkpoint.root != self.tree.root() or peaks != [peak.hex() for peak in self.tree.peaks]:
            raise Wrong("it was signed over other records")
        self.result.signed = checkpoint.size
        if not automatic:
            self.signed.append((checkpoint.size, note))
        if automatic is not None:
            self.latest = checkpoint.size

    def end(self):
        snapshot, found = self.snapshot, self.tree.size
        segment = segment_name(snapshot.segments[-1][0] if snapshot.segments else 1)
        head = snapshot.head
        if head is None:
            if snapshot.has_head or found or snapshot.torn:
                self.fault("lock", None, None, "the head cannot be read")
            return
        least = head.records if head.settled else head.before
        last = found - 1 if found else None
        if found < least:
            self.fault(segment, None, found, f"{least} records were written")
        elif found > head.records:
            self.fault(segment, None, head.records, f"{head.records} records were written")
        elif found == head.records and head.hash != self.prev:
            self.fault(segment, None, last, "the last record was changed")
        elif head.settled and (
            (head.segment, head.size) not in snapshot.segments or time_of(head.micros) != self.time
        ):
            self.fault("lock", None, last, "the head was changed")
        if snapshot.torn and head.settled:
            self.fault(segment, None, found, "the last record has no end")
        elif snapshot.torn:
            self.mention(f"the last writer was ended in the middle of a record ({snapshot.torn} bytes)")

    def kept_notes(self):
        kept = dict(self.snapshot.notes)
        # The last writer may have been ended before it could keep it.
        if self.latest is not None and self.latest + 1 < self.tree.size and LATEST_NOTE not in kept:
            self.fault(LATEST_NOTE, None, None, "the latest note is missing")
        for size, note in self.signed:
            if kept.get(note_name(size)) != note:
                self.fault(note_name(size), None, None, "the note is missing or says something else")

    def notes_fit(self):
        first = self.given or self.snapshot.key
        keys = ([first] if first else []) + self.keys[::-1]
        if not keys:
            return
        for file, note in self.all_notes:
            # The latest note may be one that lies in a file of its own as well: one thing wrong is told once.
            if file == LATEST_NOTE and any(file != other and note == text for other, text in self.all_notes):
                continue
            checkpoint, refused = None, None
            for key in keys:
                try:
                    checkpoint = opened(note, key)
                    break
                except Wrong as wrong:
                    refused = refused or wrong
            if checkpoint is None:
                self.fault(file, None, None, f"the note is not genuine: {refused}")
                continue
            root = self.roots.get(checkpoint.size)
            if root is None:
                self.fault(file, None, None, f"it was signed over {checkpoint.size} records: some are missing")
            elif root != checkpoint.root:
                self.fault(file, None, None, "it was signed over other records")


def verify(directory, key=None, notes=(), pins=None):
    """Verifies the ledger in a directory, with a key, notes and keys of people kept elsewhere."""
    return Walk(Snapshot(directory), key, list(notes), pins).run(directory)


APPROVERS = "/etc/holdpoint/approvers.json"


def pins_of(path):
    """The keys of people that are pinned."""
    with open(path, "rb") as file:
        pins = json.loads(file.read(CHUNK))
    for person in pins["people"]:
        for key in person["keys"]:
            if not all(isinstance(one, str) for one in (person["name"], key["id"], key["kind"], key["public_key"])):
                raise ValueError("a name or key is no text")
    return pins


def main():
    parser = argparse.ArgumentParser(description="Verifies a Holdpoint ledger.")
    parser.add_argument("directory", metavar="DIRECTORY")
    parser.add_argument("--key", help="a key kept elsewhere, or the file that holds it")
    parser.add_argument("--checkpoint", action="append", default=[], metavar="FILE", help="a note kept elsewhere")
    parser.add_argument("--approvers", metavar="FILE", help="the keys of people that are pinned")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    try:
        arguments = parser.parse_args()
    except SystemExit as stop:
        # Exit code 2 would mean something else to who calls Holdpoint.
        return 1 if stop.code else 0
    try:
        key = None
        if arguments.key:
            text = arguments.key
            if os.path.exists(text):
                text = small_file(text).decode(errors="replace")
            key = key_of(text.strip())
        notes = [small_file(path).decode(errors="replace") for path in arguments.checkpoint]
        approvers = arguments.approvers or (APPROVERS if os.path.exists(APPROVERS) else None)
        pins = pins_of(approvers) if approvers else None
        result = verify(arguments.directory, key, notes, pins)
    except (KeyError, TypeError, ValueError, RecursionError):
        print("verify_ledger: the pinned keys cannot be read", file=sys.stderr)
        return 1
    except Wrong as wrong:
        print(f"verify_ledger: the key given is none: {wrong}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"verify_ledger: {arguments.directory}: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        shown = dict(vars(result), intact=not result.faults, faults=[vars(fault) for fault in result.faults])
        print(json.dumps(shown))
    else:
        for note in result.notes:
            print(f"note: {note}")
        for fault in result.faults:
            print(fault)
        state = "something is wrong" if result.faults else "nothing is wrong"
        print(
            f"{state}: {result.records} records in {result.segments} segments, {result.checkpoints} checkpoints, "
            f"signed up to record {result.signed}, {result.proofs} signatures of people"
            + ("" if result.unpinned is None else f", {result.unpinned} by keys that are not pinned now")
        )
    return 4 if result.faults else 0


if __name__ == "__main__":
    sys.exit(main())

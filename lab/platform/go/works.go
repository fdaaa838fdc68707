package main

import (
	"bytes"
	"compress/gzip"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

//go:embed page.html
var page string

var errWrong = errors.New("wrong result")

var works = map[string]work{
	"go-crypto/rsa2048-sign":      {1, "signatures", rsaSign},
	"go-crypto/rsa2048-verify":    {1, "verifications", rsaVerify},
	"go-crypto/ecdsa-p256-sign":   {1, "signatures", ecdsaSign},
	"go-crypto/ecdsa-p256-verify": {1, "verifications", ecdsaVerify},
	"go-crypto/aes-128-gcm":       {recordSize, "bytes", seal(16)},
	"go-crypto/aes-256-gcm":       {recordSize, "bytes", seal(32)},
	"go-crypto/sha256":            {recordSize, "bytes", hash},
	"go-gzip/compress-1":          {len(page), "bytes", compress(1)},
	"go-gzip/compress-6":          {len(page), "bytes", compress(6)},
	"go-gzip/compress-9":          {len(page), "bytes", compress(9)},
	"go-gzip/decompress":          {len(page), "bytes", decompress},
	"go-regexp/easy":              {textSize, "bytes", match("ABCDEFGHIJKLMNOPQRSTUVWXYZ$")},
	"go-regexp/medium":            {textSize, "bytes", match("[XYZ]ABCDEFGHIJKLMNOPQRSTUVWXYZ$")},
	"go-regexp/hard":              {textSize, "bytes", match("[ -~]*ABCDEFGHIJKLMNOPQRSTUVWXYZ$")},
	"go-regexp/links":             {len(page), "bytes", links},
	"go-strings/replacer":         {len(page), "bytes", replace},
	"go-strings/escape":           {len(page), "bytes", escape},
	"go-strings/unescape":         {len(page), "bytes", unescape},
	"go-strings/fields":           {len(page), "bytes", fields},
}

// The size of the largest TLS record.
const recordSize = 16384

// The length of text that the standard library's own benchmarks of regexp use.
const textSize = 32 << 10

var digest = sha256.Sum256([]byte("proofmill"))

func rsaSign() (func() error, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	return func() error {
		_, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
		return err
	}, err
}

func rsaVerify() (func() error, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
	return func() error { return rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, digest[:], signature) }, err
}

func ecdsaSign() (func() error, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return func() error {
		_, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		return err
	}, err
}

func ecdsaVerify() (func() error, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	return func() error {
		if !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			return errWrong
		}
		return nil
	}, err
}

func seal(keySize int) func() (func() error, error) {
	return func() (func() error, error) {
		block, err := aes.NewCipher(make([]byte, keySize))
		if err != nil {
			return nil, err
		}
		gcm, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		message, nonce := make([]byte, recordSize), make([]byte, gcm.NonceSize())
		sealed := gcm.Seal(nil, nonce, message, nil)
		if opened, err := gcm.Open(nil, nonce, sealed, nil); err != nil || !bytes.Equal(opened, message) {
			return nil, errWrong
		}
		return func() error {
			sealed = gcm.Seal(sealed[:0], nonce, message, nil)
			return nil
		}, nil
	}
}

func hash() (func() error, error) {
	message := make([]byte, recordSize)
	expected := sha256.Sum256(message)
	return func() error {
		if sha256.Sum256(message) != expected {
			return errWrong
		}
		return nil
	}, nil
}

func compress(level int) func() (func() error, error) {
	return func() (func() error, error) {
		var out bytes.Buffer
		writer, err := gzip.NewWriterLevel(&out, level)
		if err != nil {
			return nil, err
		}
		source := []byte(page)
		call := func() error {
			out.Reset()
			writer.Reset(&out)
			if _, err := writer.Write(source); err != nil {
				return err
			}
			return writer.Close()
		}
		if err := call(); err != nil {
			return nil, err
		}
		return call, inflate(out.Bytes(), new(gzip.Reader))
	}
}

func decompress() (func() error, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := io.WriteString(writer, page); err != nil {
		return nil, err
	}
	reader := new(gzip.Reader)
	return func() error { return inflate(out.Bytes(), reader) }, writer.Close()
}

func inflate(compressed []byte, reader *gzip.Reader) error {
	if err := reader.Reset(bytes.NewReader(compressed)); err != nil {
		return err
	}
	if expanded, err := io.ReadAll(reader); err != nil || string(expanded) != page {
		return errWrong
	}
	return nil
}

// text returns text in which the expressions of the standard library's benchmarks do not match: every start
// is tried.
func text() []byte {
	text, state := make([]byte, textSize), uint32(1)
	for i := range text {
		state = state*1664525 + 1013904223
		text[i] = ' ' + byte(state>>24)%('Z'-' ')
		if i%64 == 63 {
			text[i] = '\n'
		}
	}
	return text
}

func match(expression string) func() (func() error, error) {
	return func() (func() error, error) {
		compiled, err := regexp.Compile(expression)
		text := text()
		return func() error {
			if compiled.Match(text) {
				return errWrong
			}
			return nil
		}, err
	}
}

func links() (func() error, error) {
	compiled, err := regexp.Compile(`<a\s+[^>]*href="([^"]*)"[^>]*>([^<]*)</a>`)
	if err != nil {
		return nil, err
	}
	expected := len(compiled.FindAllStringSubmatch(page, -1))
	if expected < 10 || expected > strings.Count(page, "<a ") {
		return nil, fmt.Errorf("expected the page's links, found %d", expected)
	}
	return func() error {
		if len(compiled.FindAllStringSubmatch(page, -1)) != expected {
			return errWrong
		}
		return nil
	}, nil
}

func replace() (func() error, error) {
	forth := strings.NewReplacer("href", "\x01", "<p>", "\x02", "the", "\x03", "proof", "\x04")
	back := strings.NewReplacer("\x01", "href", "\x02", "<p>", "\x03", "the", "\x04", "proof")
	if replaced := forth.Replace(page); len(replaced) >= len(page) || back.Replace(replaced) != page {
		return nil, errWrong
	}
	length := len(forth.Replace(page))
	return func() error {
		if len(forth.Replace(page)) != length {
			return errWrong
		}
		return nil
	}, nil
}

func escape() (func() error, error) {
	length := len(html.EscapeString(page))
	return func() error {
		if len(html.EscapeString(page)) != length || length <= len(page) {
			return errWrong
		}
		return nil
	}, nil
}

func unescape() (func() error, error) {
	escaped := html.EscapeString(page)
	return func() error {
		if html.UnescapeString(escaped) != page {
			return errWrong
		}
		return nil
	}, nil
}

func fields() (func() error, error) {
	expected := len(strings.Join(strings.Fields(page), " "))
	return func() error {
		if len(strings.Join(strings.Fields(page), " ")) != expected || expected >= len(page) {
			return errWrong
		}
		return nil
	}, nil
}
